"""The MuJoCo environments by name."""

from diprl.errors import unknown
from diprl.tasks.mujoco.ant import CROSS_MAZE, RANDOM_GOAL
from diprl.tasks.mujoco.cheetah import HURDLE
from diprl.tasks.mujoco.description import Description
from diprl.tasks.mujoco.pusher import PUSHER

DESCRIPTIONS = {each.name: each for each in (HURDLE, PUSHER, RANDOM_GOAL, CROSS_MAZE)}


def find_description(name: str) -> Description:
    if name not in DESCRIPTIONS:
        raise unknown("MuJoCo environment", name, DESCRIPTIONS)
    return DESCRIPTIONS[name]
