"""The methods by name."""

from collections.abc import Callable
from dataclasses import dataclass

from diprl.errors import unknown
from diprl.methods import baseline_presets, diprl, dtsemnet, pi_prl, ppo, presets, viper
from diprl.methods.base import Job, Outcome
from diprl.train.config import Config


@dataclass(frozen=True)
class Method:
    """How to configure a method for a task, and how to run it."""

    title: str
    fit: Callable[[Job], Outcome]
    preset: Callable[[str, str, int], Config]
    """Settings for (preset, task name, budget)."""


METHODS: dict[str, Method] = {
    "diprl": Method("DiPRL", diprl.fit, presets.preset),
    "ppo": Method("PPO", ppo.fit, baseline_presets.ppo),
    "pi-prl": Method("pi-PRL", pi_prl.fit, baseline_presets.pi_prl),
    "dtsemnet": Method("DTSemNet", dtsemnet.fit, baseline_presets.dtsemnet),
    "viper": Method("VIPER", viper.fit, baseline_presets.ppo),
}


def find_method(name: str) -> Method:
    if name not in METHODS:
        raise unknown("method", name, METHODS)
    return METHODS[name]
