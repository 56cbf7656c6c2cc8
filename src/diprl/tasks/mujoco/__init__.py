"""Four MuJoCo tasks, registered with Gymnasium as diprl/<name>-v0; MuJoCo itself loads when one is made."""

from gymnasium.envs.registration import register

from diprl.tasks.mujoco.catalogue import DESCRIPTIONS
from diprl.tasks.mujoco.description import Description


def _register(description: Description) -> None:
    register(
        id=f"diprl/{description.name}-v0",
        entry_point="diprl.tasks.mujoco.environment:MujocoEnvironment",
        kwargs={"description": description.name},
        max_episode_steps=description.horizon,
    )


for _description in DESCRIPTIONS.values():
    _register(_description)
