"""`diprl doctor`: what is installed on this machine, and what works."""

import platform
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diprl.cli.options import JSONOption
from diprl.terminal.progress import Working


@dataclass(frozen=True, kw_only=True)
class Doctor(JSONOption):
    """Say what is installed and which backends and devices work, and run a two-second self-test."""

    def run(self) -> int:
        with Working("looking at this machine") as working:
            import jax

            from diprl import __version__
            from diprl.cli.tasks import task_rows
            from diprl.terminal.printing import print_findings

            findings = {
                "diprl": __version__,
                "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
                "packages": packages(),
                "devices": [f"{device.platform}: {device.device_kind}" for device in jax.devices()],
                "tasks": {row["task"]: row.get("missing") or row["backend"] for row in task_rows(True)},
            }
            working.show("training a little")
            findings["self_test"] = self_test()
        self.print_json(**findings) if self.json else print_findings(findings)
        return 0 if findings["self_test"]["passed"] else 1


def packages() -> dict[str, str]:
    """Versions; what is missing comes with the command that installs it."""
    from importlib.metadata import PackageNotFoundError, version

    known = tomllib.loads(Path(__file__).with_name("packages.toml").read_text(encoding="utf-8"))
    found, extras = {}, known["optional"]
    for name in (*known["needed"], *extras):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = f"not installed: pip install 'diprl[{extras[name]}]'" if name in extras else "missing"
    return found


def self_test() -> dict[str, Any]:
    """Train a few rollouts, extract, and run the program against its own text."""
    import numpy as np

    from diprl import DiPRL, Program

    began = time.monotonic()
    model = DiPRL("CartPole-v1", num_envs=8, num_steps=32, minibatch_size=64, members=1).learn(2048)
    program = Program.from_text(str(model.program))
    states = np.random.default_rng(0).normal(size=(1000, 4))
    passed = bool(np.array_equal(program.act_batch(states), model.program.act_batch(states)))
    return {"passed": passed, "seconds": round(time.monotonic() - began, 1)}
