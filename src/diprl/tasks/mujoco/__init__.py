"""Four MuJoCo tasks, registered with Gymnasium as diprl/<name>-v0; MuJoCo itself loads when one is made."""

from gymnasium.envs.registration import register

from diprl.errors import check_known
from diprl.tasks.mujoco.ant import CROSS_MAZE, RANDOM_GOAL
from diprl.tasks.mujoco.cheetah import HURDLE
from diprl.tasks.mujoco.description import Description
from diprl.tasks.mujoco.pusher import PUSHER

DESCRIPTIONS = {each.name: each for each in (HURDLE, PUSHER, RANDOM_GOAL, CROSS_MAZE)}


def find_description(name: str) -> Description:
    check_known("MuJoCo environment", DESCRIPTIONS, name)
    return DESCRIPTIONS[name]


_ENTRY = "diprl.tasks.mujoco.environment:MujocoEnvironment"
for _name, _each in DESCRIPTIONS.items():
    register(f"diprl/{_name}-v0", _ENTRY, kwargs={"description": _name}, max_episode_steps=_each.horizon)
