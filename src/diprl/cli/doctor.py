"""`diprl doctor`: what is installed, what works, and what to put into a bug report."""

import platform
from dataclasses import dataclass
from typing import Any

from diprl.cli.options import JSONOption
from diprl.cli.tasks import stepped_by
from diprl.errors import DiprlError


@dataclass(frozen=True, kw_only=True)
class Command(JSONOption):
    """Say what is installed and which backends and devices work, and run a two-second self-test."""

    def run(self) -> int:
        from diprl import __version__
        from diprl.terminal.tables import print_findings

        findings = {
            "diprl": __version__,
            "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
            "packages": packages(),
            "devices": devices(),
            "tasks": tasks(),
            "self_test": self_test(),
        }
        self.print_json(**findings) if self.json else print_findings(findings)
        return 0 if findings["self_test"]["passed"] else 1


NEEDED = ("jax", "jaxlib", "equinox", "optax", "numpy", "scipy", "gymnasium", "tyro", "rich")
OPTIONAL = {
    "box2d": "box2d",
    "minigrid": "minigrid",
    "mujoco": "mujoco",
    "envpool": "fast",
    "scikit-learn": "viper",
    "z3-solver": "verify",
    "jinja2": "report",
    "onnx": "onnx",
    "tensorboardX": "tensorboard",
    "ray": "cluster",
}
"""Packages that some commands need, and the extra that installs each."""


def packages() -> dict[str, str]:
    """Versions; what is missing comes with the command that installs it."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in (*NEEDED, *OPTIONAL):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = f"not installed: pip install 'diprl[{OPTIONAL[name]}]'" if name in OPTIONAL else "missing"
    return found


def devices() -> list[str]:
    import jax

    return [f"{device.platform}: {device.device_kind}" for device in jax.devices()]


def tasks() -> dict[str, str]:
    """Which tasks can be made here, and what steps them."""
    from diprl.tasks.registry import TASKS

    working = {}
    for name, make in TASKS.items():
        try:
            task = make()
            task.reference().close()
            working[name] = stepped_by(task)
        except DiprlError as error:
            working[name] = str(error)
    return working


def self_test() -> dict[str, Any]:
    """Train a few rollouts, extract, and run the program against its own text."""
    import time

    import numpy as np

    from diprl import DiPRL, Program

    began = time.monotonic()
    model = DiPRL("CartPole-v1", num_envs=8, num_steps=32, minibatch_size=64, members=1).learn(2048)
    program = Program.from_text(str(model.program))
    states = np.random.default_rng(0).normal(size=(1000, 4))
    passed = bool(np.array_equal(program.act_batch(states), model.program.act_batch(states)))
    return {"passed": passed, "seconds": round(time.monotonic() - began, 1)}
