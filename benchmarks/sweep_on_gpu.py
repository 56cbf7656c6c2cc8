"""Random settings for DiPRL on a task with a twin: many with few seeds, then the best of them with fresh ones.

Needs only JAX, Optax and Equinox: python benchmarks/sweep_on_gpu.py --out FOLDER, with PYTHONPATH=src where diprl is
not installed. One training each, without members and without search; all of one depth train in one compiled call.
Scores are those of the hard program on 512 episodes of the compiled twin. A setting is judged by its mean score, less a
price for every number beyond `--numbers`. Writes a line for each setting, with the score and size of every seed.
"""

import argparse
import json
import time
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import jax
import numpy as np

from diprl.experiment.vmap import RunBatch
from diprl.extract import read_off
from diprl.methods.presets import settings_for
from diprl.policy.base import HARD
from diprl.runs.spec import RunSpec
from diprl.search.smaller import merged
from diprl.tasks.twins.table import TWIN_TASKS
from diprl.train.loop import train

EPISODES = 512
FACTORS = {
    "learning_rate": 1.6,
    "entropy_coefficient": 1.6,
    "clip_range": 1.4,
    "value_coefficient": 2.0,
    "max_grad_norm": 2.0,
    "condition_temperature": 1.6,
    "condition_temperature_end": 1.6,
    "feature_entropy": 2.0,
    "smallest_share": 1.3,
    "support_at": 1.3,
    "architecture_from": 1.6,
    "architecture_to": 1.3,
    "harden_from": 2.0,
    "harden_to": 1.3,
    "gamma": 3.0,
    "gae_lambda": 1.6,
}
"""Settings that are multiplied or divided by up to so much."""
COMPLEMENTS = ("gamma", "gae_lambda")
"""Of these, what they lack to one is."""
Row = dict[str, Any]


def main() -> None:
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    print(f"{jax.devices()[0].device_kind}, jax {jax.__version__}", flush=True)
    random = np.random.default_rng(options.first)
    rows: list[Row] = []
    for depth in options.depths:
        drawn = grid(options.grid) or [{}, *(draw(options.task, random) for _ in range(options.settings - 1))]
        rows += round_of(options, depth, drawn, range(options.first, options.first + options.seeds), 1)
    best = sorted(by_setting(rows), key=lambda group: -worth(group, options))[: options.finalists]
    for depth in options.depths:
        again = [group[0]["given"] for group in best if group[0]["depth"] == depth]
        first = options.first + options.seeds
        if again:
            rows += round_of(options, depth, again, range(first, first + options.more_seeds), 2)
    for group in sorted(by_setting(rows), key=lambda group: -worth(group, options))[:12]:
        scores, numbers = ([row[name] for row in group] for name in ("score", "numbers"))
        figures = (
            f"{np.mean(scores):.2f}, median {np.median(scores):.2f}, {np.mean(numbers):.1f} numbers, {len(group)} seeds"
        )
        print(f"depth {group[0]['depth']}: {figures}: {group[0]['given'] or 'as before'}")


def grid(terms: list[str]) -> list[Row]:
    """All combinations of NAME=VALUE,VALUE terms."""
    named = [(term.split("=")[0], [float(value) for value in term.split("=")[1].split(",")]) for term in terms]
    names = [name for name, _ in named]
    return (
        [dict(zip(names, values, strict=True)) for values in product(*(values for _, values in named))] if terms else []
    )


def draw(task: str, random: np.random.Generator) -> Row:
    """Settings near those of the task."""
    tuned, drawn = settings_for("diprl", "default", TWIN_TASKS[task]).values(), {}
    for name, factor in FACTORS.items():
        by = factor ** random.uniform(-1, 1)
        drawn[name] = 1.0 - (1.0 - tuned[name]) * by if name in COMPLEMENTS else tuned[name] * by
    return {name: float(f"{value:.4g}") for name, value in drawn.items()}


def round_of(options: argparse.Namespace, depth: int, drawn: list[Row], seeds: range, number: int) -> list[Row]:
    """Train each of the settings with each of the seeds, all together."""
    began = time.monotonic()
    fixed = {"total_timesteps": options.steps, "members": 1, "polish_share": 0.0, "max_depth": depth}
    pairs = [(given, seed) for given in drawn for seed in seeds]
    settings = partial(settings_for, "diprl", "default", TWIN_TASKS[options.task], **fixed)
    runs = [RunSpec(options.task, "diprl", settings(**given), seed) for given, seed in pairs]
    batch = RunBatch(runs)
    state = train(batch.collector, batch.begin(), lambda _: None, reports=2)
    scores, state = batch.returns(state, 1.0, HARD, EPISODES).mean(axis=1), jax.device_get(state)
    rows = []
    for index, (given, seed) in enumerate(pairs):
        trained = batch.trained(state, index)
        program = merged(read_off(batch.task, trained.agent, trained.temperatures))
        sizes = {"numbers": program.coefficients, "conditions": program.conditions}
        rows.append(
            {"round": number, "depth": depth, "seed": seed, "score": float(scores[index])} | sizes | {"given": given}
        )
    write(rows, options.out / "settings.jsonl")
    print(f"depth {depth}, round {number}: {len(runs)} trainings, {time.monotonic() - began:.0f} s", flush=True)
    return rows


def by_setting(rows: list[Row]) -> list[list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(json.dumps([row["round"], row["depth"], row["given"]]), []).append(row)
    return list(groups.values())


def worth(group: list[Row], options: argparse.Namespace) -> float:
    score, numbers = (float(np.mean([row[name] for row in group])) for name in ("score", "numbers"))
    return score - options.price * max(0.0, numbers - options.numbers)


def write(rows: list[Row], path: Path) -> None:
    """Add a line for each setting."""
    with path.open("a", encoding="utf-8") as file:
        for group in by_setting(rows):
            first = {name: group[0][name] for name in ("depth", "given")}
            lists = {name: [row[name] for row in group] for name in ("seed", "score", "numbers")}
            file.write(json.dumps(first | lists) + "\n")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the trainings and the page")
    parser.add_argument("--task", default="Acrobot-v1", choices=tuple(TWIN_TASKS))
    parser.add_argument("--steps", type=int, default=1_800_000)
    parser.add_argument("--depths", type=int, nargs="+", default=(5, 7, 10))
    parser.add_argument("--settings", type=int, default=96, help="how many, for each depth")
    parser.add_argument("--grid", nargs="*", default=[], help="settings to combine instead, such as support_at=0.3,0.5")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--finalists", type=int, default=9)
    parser.add_argument("--more-seeds", type=int, default=48)
    parser.add_argument("--first", type=int, default=5000, help="the first seed")
    parser.add_argument(
        "--weight", type=float, default=0.0015, help="of the entropy over features, for the first setting"
    )
    parser.add_argument("--numbers", type=float, default=26.0, help="more cost a price each")
    parser.add_argument("--price", type=float, default=0.15)
    return parser.parse_args()


if __name__ == "__main__":
    main()
