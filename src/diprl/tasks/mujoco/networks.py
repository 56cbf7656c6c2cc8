"""The networks behind a program over bundled primitives, under the names that the program gives them."""

from dataclasses import replace

from diprl.program import Primitives, Program
from diprl.tasks.mujoco.primitives import Primitive
from diprl.tasks.mujoco.tasks import ANT, ARM, CHEETAH, Robot


def networks_of(program: Program) -> tuple[Primitive, ...]:
    """One network per primitive of the program; none where it blends none, or none that ship with diprl."""
    robot = next((robot for robot in (CHEETAH, ARM, ANT) if is_program_of(robot, program)), None)
    if robot is None:
        return ()
    named = zip(robot.primitive_names, robot.load(), strict=True)
    return tuple(replace(primitive, name=name) for name, primitive in named)


def is_program_of(robot: Robot, program: Program) -> bool:
    """Whether a program reads a robot's features and blends its primitives, whatever task it was learnt on."""
    signature = program.signature
    features = tuple(feature.name for feature in robot.features)
    blends = isinstance(signature.actions, Primitives) and signature.actions.names == robot.primitive_names
    return blends and signature.feature_names == features
