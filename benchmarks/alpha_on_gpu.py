"""An ablation, or the ladder, on the four tasks with a twin at full budget, in compiled calls: wall time and returns.

Needs only JAX, Optax and Equinox: python benchmarks/alpha_on_gpu.py --out FOLDER, with PYTHONPATH=src where diprl is
not installed. `diprl reproduce alpha --merge FOLDER` then scores the programs on the reference environments.
With `--experiment ladder` it compares all presets, with the ladder's own seeds.
"""

import argparse
import time
from pathlib import Path

import jax
import numpy as np

from diprl.experiment.executors import vmap
from diprl.experiment.grid import Grid
from diprl.experiment.request import Request
from diprl.experiment.results import MEASURES, relaxed, results_of, score
from diprl.experiment.suites import SUITES
from diprl.experiment.vmap import fits
from diprl.tasks.twins.table import TWIN_TASKS

TASKS = tuple(task for task in SUITES["alpha"].tasks if task in TWIN_TASKS)


def main() -> None:
    options = parse()
    request = Request(preset=options.preset, tasks=",".join(options.tasks), seeds=options.seeds, quick=options.quick)
    runs = SUITES[options.experiment].runs(request)
    runs = [run for run in runs if fits(run) and options.variant in (None, run.variant)]
    print(f"{jax.devices()[0].device_kind}, jax {jax.__version__}, {len(runs)} runs", flush=True)
    began = time.monotonic()
    for task in options.tasks:
        run_task(Grid(options.out, tuple(run for run in runs if run.task == task)), task)
    print(f"all tasks: {time.monotonic() - began:.1f} s")


def run_task(grid: Grid, task: str) -> None:
    """One task: every setting and seed together."""
    began = time.monotonic()
    failures = vmap(grid, lambda _: None)
    seconds = time.monotonic() - began
    steps = sum(run.settings.ppo.total_timesteps for run in grid.runs)
    print(f"{task}: {len(grid.runs)} runs, {seconds:.1f} s, {steps / seconds / 1e6:.2f} M steps/s", flush=True)
    results = results_of(grid.runs, grid.store.read())
    for preset, variant in dict.fromkeys((run.preset, run.variant) for run in grid.runs):
        part = results.having(preset=preset, variant=variant)
        measured = {"relaxed": relaxed, "depth only": MEASURES["depth only, greedy"], "program": score}
        found = {name: part.present(measure) for name, measure in measured.items()}
        means = [f"{name} {np.mean(values):8.2f}" for name, values in found.items() if len(values)]
        print(f"  {preset:8} {variant:6} {'  '.join(means)}", flush=True)
    for failure in failures.values():
        print(f"  failed: {failure}")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the records")
    parser.add_argument("--experiment", default="alpha", choices=("alpha", "target-entropy", "ladder", "seeds"))
    parser.add_argument("--preset", choices=("default", "paper", "release"))
    parser.add_argument("--variant", help="only this one, such as plain")
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS)
    parser.add_argument("--seeds", help="such as 0:30; default: those of the experiment")
    parser.add_argument("--quick", action="store_true", help="tiny budgets")
    return parser.parse_args()


if __name__ == "__main__":
    main()
