"""The methods by name."""

from collections.abc import Callable
from dataclasses import dataclass

from diprl.errors import unknown
from diprl.methods import diprl, presets
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
}


def find_method(name: str) -> Method:
    if name not in METHODS:
        raise unknown("method", name, METHODS)
    return METHODS[name]
