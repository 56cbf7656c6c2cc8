"""Names and units for Gymnasium's MuJoCo environments, versions 4 and 5."""

from diprl.tasks.spelling import Names, spelt

AXES = ("x", "y", "z")


def _joined(*parts: str) -> str:
    return " ".join(parts)


def _angles(joints: str) -> str:
    return _joined(*(f"{joint}_angle:rad" for joint in joints.split()))


def _velocities(joints: str) -> str:
    return _joined(*(f"{joint}_velocity:rad/s" for joint in joints.split()))


def _vector(name: str, unit: str = "m") -> str:
    return _joined(*(f"{name}_{axis}:{unit}" for axis in AXES))


def _contacts(bodies: str) -> str:
    """MuJoCo's external forces on each body: three torques, then three forces."""
    return _joined(*(f"{_vector(f'{body}_torque', 'Nm')} {_vector(f'{body}_force', 'N')}" for body in bodies.split()))


TORSO = _joined("torso_height:m", "torso_w", "torso_x", "torso_y", "torso_z")
TORSO_RATES = _joined(_vector("torso_velocity", "m/s"), _vector("torso_rotation", "rad/s"))
PLANAR = "torso_height:m torso_pitch:rad"
PLANAR_RATES = "torso_x_velocity:m/s torso_z_velocity:m/s torso_pitch_velocity:rad/s"

ANT_JOINTS = _joined(
    *(
        f"{leg}_{joint}"
        for leg in ("front_left", "front_right", "back_left", "back_right")
        for joint in ("hip", "ankle")
    )
)
ANT_MOTORS = _joined(
    *(
        f"{leg}_{joint}"
        for leg in ("back_right", "front_left", "front_right", "back_left")
        for joint in ("hip", "ankle")
    )
)
ANT_BODIES = _joined(
    "torso",
    *(
        f"{leg}_{part}"
        for leg in ("front_left", "front_right", "back_left", "back_right")
        for part in ("leg", "aux", "foot")
    ),
)
ANT = _joined(TORSO, _angles(ANT_JOINTS), TORSO_RATES, _velocities(ANT_JOINTS))

CHEETAH_JOINTS = "back_thigh back_shin back_foot front_thigh front_shin front_foot"
CHEETAH = _joined(PLANAR, _angles(CHEETAH_JOINTS), PLANAR_RATES, _velocities(CHEETAH_JOINTS))
HOPPER = _joined(PLANAR, _angles("thigh leg foot"), PLANAR_RATES, _velocities("thigh leg foot"))
WALKER_JOINTS = "right_thigh right_leg right_foot left_thigh left_leg left_foot"
WALKER = _joined(PLANAR, _angles(WALKER_JOINTS), PLANAR_RATES, _velocities(WALKER_JOINTS))

PUSHER_JOINTS = "shoulder_pan shoulder_lift shoulder_roll elbow_flex forearm_roll wrist_flex wrist_roll"
PUSHER = _joined(_angles(PUSHER_JOINTS), _velocities(PUSHER_JOINTS), _vector("tip"), _vector("object"), _vector("goal"))

REACHER = _joined(
    "cos_joint0 cos_joint1 sin_joint0 sin_joint1 target_x:m target_y:m",
    "joint0_velocity:rad/s joint1_velocity:rad/s",
    "tip_to_target_x:m tip_to_target_y:m",
)
SWIMMER = "tip_angle:rad rotor1_angle:rad rotor2_angle:rad tip_x_velocity:m/s tip_y_velocity:m/s " + _velocities(
    "tip rotor1 rotor2"
)
DOUBLE_PENDULUM = _joined(
    "cart_position:m sin_theta1 sin_theta2 cos_theta1 cos_theta2 cart_velocity:m/s",
    "theta1_velocity:rad/s theta2_velocity:rad/s constraint_force_x:N",
)

HUMANOID_LIMBS = _joined(
    *(f"{side}_{joint}" for side in ("right", "left") for joint in ("hip_x", "hip_z", "hip_y", "knee")),
    *(f"{side}_{joint}" for side in ("right", "left") for joint in ("shoulder1", "shoulder2", "elbow")),
)
HUMANOID_JOINTS = _joined("abdomen_z abdomen_y abdomen_x", HUMANOID_LIMBS)
HUMANOID_MOTORS = _joined("abdomen_y abdomen_z abdomen_x", HUMANOID_LIMBS)
HUMANOID_BODIES = _joined(
    "torso waist pelvis",
    *(f"{side}_{part}" for side in ("right", "left") for part in ("thigh", "shin", "foot")),
    *(f"{side}_{part}" for side in ("right", "left") for part in ("upper_arm", "lower_arm")),
)


def _humanoid(bodies: str, motors: str) -> Names:
    """Posture, then per body inertia and velocity, then motor forces and contacts."""
    each = bodies.split()
    return spelt(
        _joined(
            TORSO,
            _angles(HUMANOID_JOINTS),
            TORSO_RATES,
            _velocities(HUMANOID_JOINTS),
            *(f"{body}_inertia_{entry}" for body in each for entry in range(10)),
            *(f"{_vector(f'{body}_com_rotation', 'rad/s')} {_vector(f'{body}_com_velocity', 'm/s')}" for body in each),
            *(f"{motor}_motor_force" for motor in motors.split()),
            _contacts(bodies),
        ),
        HUMANOID_MOTORS,
    )


ROOT_MOTORS = _joined(*(f"root{index}" for index in range(6)), HUMANOID_JOINTS)
HUMANOID = [
    _humanoid(HUMANOID_BODIES, HUMANOID_JOINTS),
    _humanoid(f"world {HUMANOID_BODIES}", ROOT_MOTORS),
]

MUJOCO_NAMES: dict[str, list[Names]] = {
    "Ant": [spelt(ANT, ANT_MOTORS), spelt(_joined(ANT, _contacts(ANT_BODIES)), ANT_MOTORS)],
    "HalfCheetah": [spelt(CHEETAH, CHEETAH_JOINTS)],
    "Hopper": [spelt(HOPPER, "thigh leg foot")],
    "Humanoid": HUMANOID,
    "HumanoidStandup": HUMANOID,
    "InvertedDoublePendulum": [
        spelt(DOUBLE_PENDULUM, "force"),
        spelt(f"{DOUBLE_PENDULUM} constraint_force_y:N constraint_force_z:N", "force"),
    ],
    "InvertedPendulum": [
        spelt("cart_position:m pole_angle:rad cart_velocity:m/s pole_angular_velocity:rad/s", "force")
    ],
    "Pusher": [spelt(PUSHER, PUSHER_JOINTS)],
    "Reacher": [spelt(REACHER, "joint0 joint1"), spelt(f"{REACHER} tip_to_target_z:m", "joint0 joint1")],
    "Swimmer": [spelt(SWIMMER, "rotor1 rotor2")],
    "Walker2d": [spelt(WALKER, WALKER_JOINTS)],
}
