"""Names and units that Gymnasium's own environments leave to their documentation.

The tables are text: 'name:unit name …' for the entries of an observation, 'name name …' for actions.
"""

from itertools import product

from diprl.program.signature import Feature


def known_names(environment_id: str, features: int | None, actions: int) -> tuple[str, str] | None:
    """Names for a Gymnasium id of any version with that many actions and features; None features fit any."""
    for names in NAMES.get(environment_id.rpartition("-v")[0], []):
        found = [len(text.split()) for text in names]
        if found[1] == actions and features in (None, found[0]):
            return names
    return None


def named_features(text: str) -> tuple[Feature, ...]:
    """A feature for each entry of 'name:unit name …'."""
    entries = [entry.partition(":") for entry in text.split()]
    return tuple(Feature(name, unit) for name, _, unit in entries)


def each(pattern: str, *choices: str) -> str:
    """The pattern filled in with every combination of one entry of each text, the last text varying fastest."""
    return " ".join(pattern.format(*entries) for entries in product(*(text.split() for text in choices)))


def velocities(joints: str) -> str:
    return each("{}_velocity:rad/s", joints)


def _angles(joints: str) -> str:
    return each("{}_angle:rad", joints)


def _vector(name: str, unit: str = "m") -> str:
    return each(f"{name}_{{}}:{unit}", "x y z")


def _contacts(bodies: str) -> str:
    """MuJoCo's external forces on each body: three torques, then three forces."""
    return each("{}_{}", bodies, f"{_vector('torque', 'Nm')} {_vector('force', 'N')}")


LANDER = "x y x_velocity y_velocity angle:rad angular_velocity left_leg_contact right_leg_contact"
BIPED_LEG = "hip{0}_angle:rad hip{0}_speed knee{0}_angle:rad knee{0}_speed leg{0}_contact"
BIPED = (
    f"hull_angle:rad hull_angular_velocity x_velocity y_velocity {each(BIPED_LEG, '1 2')} "
    + each("lidar{}", "0 1 2 3 4 5 6 7 8 9"),
    "hip1 knee1 hip2 knee2",
)

TORSO = "torso_height:m torso_w torso_x torso_y torso_z"
TORSO_RATES = f"{_vector('torso_velocity', 'm/s')} {_vector('torso_rotation', 'rad/s')}"
PLANAR = "torso_height:m torso_pitch:rad"
PLANAR_RATES = "torso_x_velocity:m/s torso_z_velocity:m/s torso_pitch_velocity:rad/s"

ANT_LEGS = "front_left front_right back_left back_right"
ANT_JOINTS = each("{}_{}", ANT_LEGS, "hip ankle")
ANT_MOTORS = each("{}_{}", "back_right front_left front_right back_left", "hip ankle")
ANT_BODIES = "torso " + each("{}_{}", ANT_LEGS, "leg aux foot")
ANT = f"{TORSO} {_angles(ANT_JOINTS)} {TORSO_RATES} {velocities(ANT_JOINTS)}"

CHEETAH_JOINTS = "back_thigh back_shin back_foot front_thigh front_shin front_foot"
HOPPER_JOINTS = "thigh leg foot"
WALKER_JOINTS = each("{}_{}", "right left", HOPPER_JOINTS)
PUSHER_JOINTS = "shoulder_pan shoulder_lift shoulder_roll elbow_flex forearm_roll wrist_flex wrist_roll"
PUSHER = f"{_angles(PUSHER_JOINTS)} {velocities(PUSHER_JOINTS)} " + each("{}_{}:m", "tip object goal", "x y z")
REACHER = (
    "cos_joint0 cos_joint1 sin_joint0 sin_joint1 target_x:m target_y:m "
    "joint0_velocity:rad/s joint1_velocity:rad/s tip_to_target_x:m tip_to_target_y:m"
)
SWIMMER = "tip_angle:rad rotor1_angle:rad rotor2_angle:rad tip_x_velocity:m/s tip_y_velocity:m/s"
DOUBLE_PENDULUM = (
    "cart_position:m sin_theta1 sin_theta2 cos_theta1 cos_theta2 cart_velocity:m/s "
    "theta1_velocity:rad/s theta2_velocity:rad/s constraint_force_x:N"
)

HUMANOID_LEGS = each("{}_{}", "right left", "hip_x hip_z hip_y knee")
HUMANOID_LIMBS = f"{HUMANOID_LEGS} {each('{}_{}', 'right left', 'shoulder1 shoulder2 elbow')}"
HUMANOID_JOINTS = f"abdomen_z abdomen_y abdomen_x {HUMANOID_LIMBS}"
HUMANOID_BODIES = "torso waist pelvis " + " ".join(
    each("{}_{}", "right left", parts) for parts in ("thigh shin foot", "upper_arm lower_arm")
)


def _planar(joints: str) -> tuple[str, str]:
    """A robot that moves in a vertical plane, with a motor in every joint."""
    return f"{PLANAR} {_angles(joints)} {PLANAR_RATES} {velocities(joints)}", joints


def _humanoid(bodies: str, forces: str) -> tuple[str, str]:
    """Posture, then inertia and velocity of each body, then the forces of the motors and the contacts."""
    features = (
        f"{TORSO} {_angles(HUMANOID_JOINTS)} {TORSO_RATES} {velocities(HUMANOID_JOINTS)}",
        each("{}_inertia_{}", bodies, "0 1 2 3 4 5 6 7 8 9"),
        each("{}_{}", bodies, f"{_vector('com_rotation', 'rad/s')} {_vector('com_velocity', 'm/s')}"),
        each("{}_motor_force", forces),
        _contacts(bodies),
    )
    return " ".join(features), f"abdomen_y abdomen_z abdomen_x {HUMANOID_LIMBS}"


HUMANOID = [
    _humanoid(HUMANOID_BODIES, HUMANOID_JOINTS),
    _humanoid(f"world {HUMANOID_BODIES}", f"{each('root{}', '0 1 2 3 4 5')} {HUMANOID_JOINTS}"),
]

NAMES: dict[str, list[tuple[str, str]]] = {
    "CartPole": [("cart_position:m cart_velocity:m/s pole_angle:rad pole_angular_velocity:rad/s", "left right")],
    "Acrobot": [
        (
            "cos_theta1 sin_theta1 cos_theta2 sin_theta2 theta1_velocity:rad/s theta2_velocity:rad/s",
            "torque_minus no_torque torque_plus",
        )
    ],
    "MountainCar": [("position velocity", "left coast right")],
    "MountainCarContinuous": [("position velocity", "force")],
    "Pendulum": [("cos_theta sin_theta theta_velocity:rad/s", "torque")],
    "LunarLander": [(LANDER, "noop left_engine main_engine right_engine"), (LANDER, "main_engine side_engine")],
    "LunarLanderContinuous": [(LANDER, "main_engine side_engine")],
    "BipedalWalker": [BIPED],
    "BipedalWalkerHardcore": [BIPED],
    "Ant": [(ANT, ANT_MOTORS), (f"{ANT} {_contacts(ANT_BODIES)}", ANT_MOTORS)],
    "HalfCheetah": [_planar(CHEETAH_JOINTS)],
    "Hopper": [_planar(HOPPER_JOINTS)],
    "Humanoid": HUMANOID,
    "HumanoidStandup": HUMANOID,
    "InvertedDoublePendulum": [
        (DOUBLE_PENDULUM, "force"),
        (f"{DOUBLE_PENDULUM} constraint_force_y:N constraint_force_z:N", "force"),
    ],
    "InvertedPendulum": [("cart_position:m pole_angle:rad cart_velocity:m/s pole_angular_velocity:rad/s", "force")],
    "Pusher": [(PUSHER, PUSHER_JOINTS)],
    "Reacher": [(REACHER, "joint0 joint1"), (f"{REACHER} tip_to_target_z:m", "joint0 joint1")],
    "Swimmer": [(f"{SWIMMER} {velocities('tip rotor1 rotor2')}", "rotor1 rotor2")],
    "Walker2d": [_planar(WALKER_JOINTS)],
}
