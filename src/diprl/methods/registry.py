"""The methods by name."""

from collections.abc import Callable
from dataclasses import dataclass

from diprl.errors import unknown
from diprl.methods import baseline_presets, diprl, dtsemnet, pi_prl, ppo, presets, viper
from diprl.methods.agents import neural_agent, tree_agent
from diprl.methods.base import Job, MakeAgent, Outcome
from diprl.tasks.base import Task
from diprl.train.config import Config


@dataclass(frozen=True)
class Method:
    """How to configure a method for a task, and how to run it."""

    title: str
    fit: Callable[[Job], Outcome]
    preset: Callable[[str, str, int], Config]
    """Settings for (preset, task name, budget)."""
    agent: MakeAgent
    """Builds what it trains."""


METHODS: dict[str, Method] = {
    "diprl": Method("DiPRL", diprl.fit, presets.preset, tree_agent),
    "ppo": Method("PPO", ppo.fit, baseline_presets.ppo, neural_agent),
    "pi-prl": Method("pi-PRL", pi_prl.fit, baseline_presets.pi_prl, tree_agent),
    "dtsemnet": Method("DTSemNet", dtsemnet.fit, baseline_presets.dtsemnet, dtsemnet.dtsemnet_agent),
    "viper": Method("VIPER", viper.fit, baseline_presets.ppo, neural_agent),
}


def settings_for(method: str, preset: str, task: Task) -> Config:
    """A preset's settings for a task; continuous actions that nobody has tuned for explore as such actions should."""
    chosen = find_method(method).preset(preset, task.name, task.budget)
    untuned = preset == "default" and task.name not in presets.TUNED
    return chosen.with_values(**presets.CONTINUOUS) if untuned and task.continuous else chosen


def find_method(name: str) -> Method:
    if name not in METHODS:
        raise unknown("method", name, METHODS)
    return METHODS[name]
