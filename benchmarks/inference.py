"""Measures how long one decision takes: exported C, the exported Python file, both interpreters, a neural policy.

    python benchmarks/inference.py cartpole.json

Every figure is the best of several repetitions in one process; the ratio is to the exported C.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from diprl.export import c_check, export, python
from diprl.export.c_types import SINGLE
from diprl.export.parity import Samples, draw
from diprl.program import Primitives, Program, parse
from parity import EXAMPLE

BATCH = 1_000_000
FEW = 20_000
REPETITIONS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", type=Path, help="program files; a small example when left out")
    paths = parser.parse_args().programs
    for program in [Program.load(path) for path in paths] or [parse(EXAMPLE)]:
        if isinstance(program.signature.actions, Primitives):
            sys.exit("programs over primitives are not measured here: their networks take nearly all of the time")
        print(f"{program!r}")
        figures = measure(program)
        fastest = min(figures.values())
        for name, nanoseconds in figures.items():
            print(f"    {name:28} {nanoseconds:10.1f} ns per decision {nanoseconds / fastest:10.1f}x")


def measure(program: Program) -> dict[str, float]:
    """Nanoseconds per decision of each way to run the program."""
    samples = draw(program, random=BATCH, near=0)
    rows = list(samples.features[:FEW])
    plain = samples.features[:FEW].tolist()
    figures: dict[str, float] = {}
    with TemporaryDirectory() as folder:
        if c_check.compiler():
            figures |= _compiled(program, samples, Path(folder))
        module = python.load(export(program, "python", folder).files[0])
        figures["interpreter, batch"] = _best(lambda: program.act_batch(samples.features), len(samples))
        figures["Python file"] = _best(lambda: [module.play(row) for row in plain], FEW)
        figures["interpreter, one by one"] = _best(lambda: [program.act(row) for row in rows], FEW)
    return figures | _neural(samples.features, len(program.signature.actions.names))


def _neural(features: NDArray[np.float64], actions: int) -> dict[str, float]:
    """A network of 64 × 64 units that chooses among the same actions, in NumPy."""
    generator = np.random.default_rng(0)
    sizes = (features.shape[1], 64, 64, actions)
    layers = [generator.normal(size=shape).astype(np.float32) for shape in pairwise(sizes)]
    views = np.nan_to_num(features[:FEW]).astype(np.float32)

    def act(rows: NDArray[np.float32]) -> NDArray[np.int64]:
        for layer in layers[:-1]:
            rows = np.tanh(rows @ layer)
        return (rows @ layers[-1]).argmax(axis=-1)

    return {
        "network, batch": _best(lambda: act(views), FEW),
        "network, one by one": _best(lambda: [act(row) for row in views], FEW),
    }


def _compiled(program: Program, samples: Samples, folder: Path) -> dict[str, float]:
    library = c_check.Library([export(program, "c", folder).files[1]])
    with np.errstate(over="ignore"):
        single = replace(samples, features=samples.features.astype(np.float32))
    return {
        "C, double": _best(lambda: library.run(program, samples), len(samples)),
        "C, float": _best(lambda: library.run(program, single, real=SINGLE), len(samples)),
    }


def _best(run: Callable[[], object], decisions: int) -> float:
    times = []
    for _ in range(REPETITIONS):
        start = perf_counter()
        run()
        times.append(perf_counter() - start)
    return min(times) / decisions * 1e9


if __name__ == "__main__":
    main()
