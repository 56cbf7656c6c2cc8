"""Reinforcement-learning policies that are programs."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diprl.model import PPO, VIPER, DiPRL, DTSemNet, PiPRL, train
    from diprl.program import Program
    from diprl.runs.observers import CheckpointCallback, EvalCallback, StopAtScore
    from diprl.search.compare import compare
    from diprl.search.polish import polish
    from diprl.search.simplify import simplify
    from diprl.tasks.registry import load_task

__version__ = "0.2.0"

HOLDERS = {"Program": "program", "load_task": "tasks.registry"}
HOLDERS |= {name: f"search.{name}" for name in ("compare", "polish", "simplify")}
HOLDERS |= dict.fromkeys(("CheckpointCallback", "EvalCallback", "StopAtScore"), "runs.observers")
"""Modules that hold public names, all others are in `model`; imported on first use, so that programs never need JAX."""
__all__ = [
    "PPO",
    "VIPER",
    "CheckpointCallback",
    "DTSemNet",
    "DiPRL",
    "EvalCallback",
    "PiPRL",
    "Program",
    "StopAtScore",
    "compare",
    "load_task",
    "polish",
    "simplify",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'diprl' has no attribute {name!r}")
    return getattr(import_module(f"diprl.{HOLDERS.get(name, 'model')}"), name)
