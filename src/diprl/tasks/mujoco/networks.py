"""The networks behind a program over bundled primitives, under the names that the program gives them."""

from dataclasses import replace

from diprl.program import Primitives, Program
from diprl.tasks.mujoco.primitives import Primitive
from diprl.tasks.mujoco.tasks import ANT, ARM, CHEETAH

ROBOTS = {"HalfCheetahHurdle": CHEETAH, "Pusher2D": ARM, "AntRandomGoal": ANT, "AntCrossMaze": ANT}


def networks_of(program: Program) -> tuple[Primitive, ...]:
    """One network per primitive of the program; none where it blends none, or none that ship with diprl."""
    robot = ROBOTS.get(program.task)
    if robot is None or not isinstance(program.signature.actions, Primitives):
        return ()
    named = zip(robot.primitive_names, robot.load(), strict=True)
    return tuple(replace(primitive, name=name) for name, primitive in named)
