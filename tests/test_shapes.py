"""Shapes of arrays are checked while programs and trees train: jaxtyping reads the annotations, beartype compares.

It happens in a process of its own, since checked functions are slow to trace.
"""

import subprocess
import sys
from pathlib import Path

CHECKED = """
from jaxtyping import TypeCheckError, install_import_hook
from tests import shapes

install_import_hook(shapes.MODULES, shapes.CHECKER)

import jax.numpy as jnp
from diprl.methods.presets import preset_settings
from diprl.methods.registry import run
from diprl.train.trajectory import discounted_returns
from tests.small import SMALL, probe, small_session

try:
    discounted_returns(jnp.zeros(2), jnp.zeros((4, 3)), jnp.zeros((4, 3), bool), 0.9)
except TypeCheckError:
    print("a wrong shape is noticed")
for method in ("diprl", "dtsemnet"):  # the others train the same trees, or networks like the critic
    settings = preset_settings(method, "paper", "ThresholdProbe", 256).with_values(**SMALL | {"total_timesteps": 256})
    print(method, run(small_session(probe("ThresholdProbe"), settings, method=method, episodes=1)).total_steps)
"""


def test_training_with_shapes_checked() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHECKED], capture_output=True, text=True, timeout=600, check=False,
        cwd=Path(__file__).parent.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["a wrong shape is noticed", "diprl 256", "dtsemnet 256"]
