"""ONNX graphs, where the libraries are installed."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from diprl.errors import DiprlError
from diprl.export import Network, draw, export, onnx
from diprl.program import Program, parse
from tests.export.examples import BLEND, EXAMPLES, NETWORKS
from tests.program.strategies import programs


def installed(name: str) -> bool:
    try:
        __import__(name)
    except ImportError:
        return False
    return True


needs_runtime = pytest.mark.skipif(
    not (installed("onnx") and installed("onnxruntime")), reason="onnx and onnxruntime are not installed"
)


@pytest.mark.skipif(installed("onnx"), reason="onnx is installed")
def test_the_missing_extra_is_named() -> None:
    with pytest.raises(DiprlError, match=r"pip install 'diprl\[onnx\]'"):
        onnx.to_onnx(BLEND)


@needs_runtime
@pytest.mark.parametrize("program", EXAMPLES, ids=lambda program: program.task)
def test_graphs_agree(program: Program, tmp_path: Path) -> None:
    report = export(program, "onnx", tmp_path)
    assert report.agrees
    assert report.checks[0].observations > 3000


@needs_runtime
def test_networks_in_graphs(tmp_path: Path) -> None:
    assert export(BLEND, "onnx", tmp_path, primitives=NETWORKS).agrees


@needs_runtime
@settings(max_examples=25)
@given(program=programs())
def test_random_graphs_agree(program: Program, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("onnx")
    assert export(program, "onnx", folder, samples=draw(program, random=50, near=50)).agrees


@needs_runtime
@pytest.mark.parametrize(
    "form", ["1.0000000000001*x", "0.99999999999*x", "x + 1e-60", "x - 1e-46", "1e-60*x + y", "x + y"]
)
def test_the_default_optimiser_drops_nothing(form: str, tmp_path: Path) -> None:
    """It takes numbers that are 0 or 1 in 32 bits for idle, and they would be lost as constants of the graph."""
    program = parse(f"features: x, y\noutputs: t\n\nif {form} > 0:\n    t = {form}\nelse:\n    t = y\n")
    assert export(program, "onnx", tmp_path).agrees


@needs_runtime
def test_a_single_sense_is_scaled_by_almost_one(tmp_path: Path) -> None:
    one = np.ones(1)
    network = Network("up", 0.0 * one, 1.00000001 * one, ((np.ones((1, 1)), 0.0 * one),), -1e9 * one, 1e9 * one)
    program = parse("features: x\nprimitives: up\nactuators: [-1e9, 1e9]\n\nup")
    assert export(program, "onnx", tmp_path, primitives=[network]).agrees
