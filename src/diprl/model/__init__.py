"""The Python interface: a model for each method, and `train` for all of them."""

from pathlib import Path
from typing import Any

from diprl.errors import check_known
from diprl.model.base import Model
from diprl.tasks.registry import Source


class DiPRL(Model):
    """Learns an if/else program: a relaxed program is trained by PPO and becomes discrete while it trains.

    See `Model` for all arguments and methods.

    >>> model = DiPRL("CartPole-v1", max_depth=2, num_envs=8, num_steps=32, polish_share=0.0)
    >>> action, _ = model.learn(512, episodes=2).predict([0.0, 0.0, 0.05, 0.1])
    >>> model.program.signature.actions.names
    ('left', 'right')
    """

    method = "diprl"


class PPO(Model):
    """Learns a network, the reference that programs are compared with."""

    method = "ppo"


class PiPRL(Model):
    """Learns a relaxed program, extracts the likeliest shape and fine-tunes it."""

    method = "pi-prl"


class DTSemNet(Model):
    """Learns a complete decision tree of linear conditions."""

    method = "dtsemnet"


class VIPER(Model):
    """Learns a network and imitates it by a decision tree over single features."""

    method = "viper"


MODELS: dict[str, type[Model]] = {model.method: model for model in (DiPRL, PPO, PiPRL, DTSemNet, VIPER)}


def train(
    env: Source,
    total_timesteps: float | None = None,
    *,
    method: str = "diprl",
    folder: str | Path | None = None,
    progress_bar: bool = False,
    episodes: int | None = None,
    **options: Any,
) -> Model:
    """What `diprl train` does: a model of the method, trained and scored; options are those of the model.

    `train("CartPole-v1", 200_000, method="ppo", seed=1)` trains a network; `folder` keeps the run.
    """
    check_known("method", MODELS, method)
    model = MODELS[method](env, **options)
    return model.learn(total_timesteps, progress_bar=progress_bar, folder=folder, episodes=episodes)
