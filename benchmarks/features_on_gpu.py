"""The entropy over features by its weight λ: score and size of the program that one training ends with, without search.

Needs only JAX, Optax and Equinox: python benchmarks/features_on_gpu.py --out FOLDER, with PYTHONPATH=src where
diprl is not installed. All seeds and weights of a task train in one compiled call. Scores are those of the hard program
on 512 episodes of the compiled twin. Writes a line for each training and a page with their means.
"""

import argparse
import json
import time
from pathlib import Path

import jax
import numpy as np

from diprl.experiment.vmap import RunBatch, batch_key
from diprl.extract import read_off
from diprl.methods.presets import settings_for
from diprl.policy.base import HARD
from diprl.runs.spec import RunSpec
from diprl.search.smaller import merged
from diprl.tasks.twins.table import TWIN_TASKS
from diprl.train.loop import train

BUDGETS = {"CartPole-v1": 300_000, "MountainCar-v0": 1_000_000, "Acrobot-v1": 1_600_000, "DoorKey-6x6": 900_000}
WEIGHTS = (0.0, 0.001, 0.003, 0.01, 0.03)
EPISODES = 512


def main() -> None:
    options = parse()
    seeds = range(options.first, options.first + options.seeds)
    options.out.mkdir(parents=True, exist_ok=True)
    rows = [row for task in options.tasks for row in run_task(task, seeds)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (options.out / "trainings.jsonl").write_text(lines, encoding="utf-8")
    page = [*HEADER, f"{jax.devices()[0].device_kind}, jax {jax.__version__}, seeds {seeds[0]} to {seeds[-1]}.", ""]
    page += [
        "| task | steps | λ | score | median | numbers | conditions |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    page += [table_row([row for row in rows if (row["task"], row["weight"]) == key]) for key in keys(rows)]
    (options.out / "README.md").write_text("\n".join(page) + "\n", encoding="utf-8")
    print("\n".join(page))


HEADER = [
    "# The entropy over features",
    "",
    "What one training ends with, without members and without search, by the weight λ of the entropy over features",
    "(0: conditions read everything). Means over seeds, made by `python benchmarks/features_on_gpu.py --out",
    "results/features`; [every training](trainings.jsonl) with its program.",
    "",
]


def run_task(task_name: str, seeds: range) -> list[dict]:
    """Train every weight and seed of a task; runs that share compiled code go together."""
    task, groups = TWIN_TASKS[task_name], {}
    for weight in WEIGHTS:
        given = {"total_timesteps": BUDGETS[task_name], "members": 1, "polish_share": 0.0, "feature_entropy": weight}
        settings = settings_for("diprl", "default", task, **given)
        for seed in seeds:
            spec = RunSpec(task_name, "diprl", settings, seed)
            groups.setdefault(batch_key(spec), []).append(spec)
    return [row for runs in groups.values() for row in train_together(runs)]


def train_together(runs: list[RunSpec]) -> list[dict]:
    began, batch = time.monotonic(), RunBatch(runs)
    state = train(batch.collector, batch.begin(), lambda _: None, reports=2)
    scores = batch.returns(state, 1.0, HARD, EPISODES).mean(axis=1)
    rows = []
    for index, spec in enumerate(runs):
        trained = batch.trained(state, index)
        program = merged(read_off(batch.task, trained.agent, trained.temperatures))
        row = {"task": spec.task, "weight": spec.settings.program.feature_entropy, "seed": spec.seed}
        sizes = {"numbers": program.coefficients, "conditions": program.conditions}
        rows.append(row | {"score": float(scores[index])} | sizes | {"program": str(program)})
    print(f"{runs[0].task}: {len(runs)} trainings, {time.monotonic() - began:.0f} s", flush=True)
    return rows


def keys(rows: list[dict]) -> list[tuple[str, float]]:
    return list(dict.fromkeys((row["task"], row["weight"]) for row in rows))


def table_row(rows: list[dict]) -> str:
    means = {name: np.mean([row[name] for row in rows]) for name in ("score", "numbers", "conditions")}
    median, task = np.median([row["score"] for row in rows]), rows[0]["task"]
    digits = 3 if abs(median) < 1 else 2
    scores = f"{means['score']:.{digits}f} | {median:.{digits}f}"
    sizes = f"{means['numbers']:.1f} | {means['conditions']:.1f}"
    return f"| {task} | {BUDGETS[task]:,} | {rows[0]['weight']:g} | {scores} | {sizes} |"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the trainings and the page")
    parser.add_argument("--tasks", nargs="+", default=tuple(BUDGETS), choices=tuple(BUDGETS))
    parser.add_argument("--seeds", type=int, default=32)
    parser.add_argument("--first", type=int, default=2000, help="the first seed")
    return parser.parse_args()


if __name__ == "__main__":
    main()
