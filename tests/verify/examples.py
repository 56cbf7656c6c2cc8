"""Programs and specifications that several tests share."""

from pathlib import Path

from diprl.program import Program, parse
from diprl.program.signature import Continuous, Discrete, Feature, Signature

EXAMPLES = Path(__file__).parents[2] / "examples"
BALANCE = Program.load(EXAMPLES / "cartpole.txt")
SIX_BRANCHES = parse(
    """
if 0.11*cart_position - 0.03*cart_velocity + 2.97*pole_angle - 1.83*pole_angular_velocity > 0: left
elif 0.33*cart_position - 0.1*cart_velocity - 1.76*pole_angle - 0.66*pole_angular_velocity > 0.034: right
elif 0.47*cart_position + 0.09*cart_velocity + 1.02*pole_angle - 1.49*pole_angular_velocity > -0.113: right
elif -0.19*cart_position + 0.04*cart_velocity - 3.22*pole_angle + 0.24*pole_angular_velocity > -0.012: left
elif -0.2*cart_position - 0.05*cart_velocity + 3.33*pole_angle + 0.66*pole_angular_velocity > 0.082: left
else: left
""",
    BALANCE.signature,
)
CAR = parse(
    """
task: MountainCar-v0
features: position in [-1.2, 0.6], velocity in [-0.07, 0.07]
actions: left, coast, right

if velocity > 0: right
else: left
"""
)
PLANE = Signature(
    (Feature("x", low=-2.0, high=2.0), Feature("y", low=-2.0, high=2.0)), Discrete(("stop", "go", "turn"))
)
TORQUE = Signature(
    (Feature("x", low=-2.0, high=2.0), Feature("y", low=-2.0, high=2.0)), Continuous(("torque",), (-1.0,), (1.0,))
)
