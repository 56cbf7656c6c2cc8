"""Reinforcement-learning policies that are programs."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diprl.model import PPO as PPO
    from diprl.model import VIPER as VIPER
    from diprl.model import DiPRL as DiPRL
    from diprl.model import DTSemNet as DTSemNet
    from diprl.model import PiPRL as PiPRL
    from diprl.model import train as train
    from diprl.program import Program as Program
    from diprl.runs.observers import CheckpointCallback as CheckpointCallback
    from diprl.runs.observers import EvalCallback as EvalCallback
    from diprl.runs.observers import StopAtScore as StopAtScore
    from diprl.search.compare import compare as compare
    from diprl.search.polish import polish as polish
    from diprl.search.simplify import simplify as simplify
    from diprl.tasks.registry import load_task as load_task

__version__ = "0.2.0"

CALLBACKS = ("CheckpointCallback", "EvalCallback", "StopAtScore")
MODELS = ("DiPRL", "PPO", "PiPRL", "DTSemNet", "VIPER")
PUBLIC = (
    dict.fromkeys(MODELS, "diprl.model")
    | {
        "Program": "diprl.program",
        "train": "diprl.model",
        "load_task": "diprl.tasks.registry",
        "compare": "diprl.search.compare",
        "polish": "diprl.search.polish",
        "simplify": "diprl.search.simplify",
    }
    | dict.fromkeys(CALLBACKS, "diprl.runs.observers")
)
"""Public names and the modules that hold them; each is imported on first use, so that programs never need JAX."""
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
    if name not in PUBLIC:
        raise AttributeError(f"module 'diprl' has no attribute {name!r}")
    return getattr(import_module(PUBLIC[name]), name)
