"""Train programs on while numbers go, with different weights of the entropy over features.

    python benchmarks/training_on.py LunarLander-v3 --programs PROGRAM … --weights 0.03 0.05 --steps 1_000_000
    python benchmarks/training_on.py LunarLander-v3 --programs PROGRAM … --weights 0.1 --staying 0.85 --times 7

A row per training goes to results/tuning/training-on.jsonl, with both programs and their scores. With `--times` what
loses at most 5% of the best score trains on again, as in `diprl simplify`.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from diprl.arena.episodes import REPORTS
from diprl.arena.reference import evaluate_program
from diprl.methods.retrain import MORE_LOST, Retrainer, keeps_up, without_new_constants
from diprl.program import Program
from diprl.search.smaller import merged
from diprl.tasks.base import Task
from diprl.tasks.registry import load_task

OUT = Path("results/tuning/training-on.jsonl")
EPISODES = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task")
    parser.add_argument("--programs", nargs="+", type=Path, required=True)
    parser.add_argument("--weights", nargs="+", type=float, required=True)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--staying", type=float, default=0.0)
    parser.add_argument("--times", type=int, default=1)
    options = parser.parse_args()
    task = load_task(options.task)
    for path in options.programs:
        for weight in options.weights:
            retrainer = Retrainer(task, feature_entropy=weight, staying=options.staying, lost=MORE_LOST)
            chain(retrainer, Program.load(path), options.steps, options.times)


def chain(retrainer: Retrainer, program: Program, steps: int, times: int) -> None:
    """Train on again and again, from the last program that kept up."""
    before = facts(retrainer.task, program)
    best = before["score"]
    for _ in range(times):
        how = {"feature_entropy": retrainer.feature_entropy, "staying": retrainer.staying}
        trained, taken = retrainer.train(program, steps)
        trained = merged(without_new_constants(trained, program))
        after = facts(retrainer.task, trained)
        row = {"task": retrainer.task.name, **how, "steps": taken, "before": before, "after": after}
        with OUT.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(how, *(f"{each['score']:.1f} with {each['numbers']}" for each in (before, after)), flush=True)
        if keeps_up(after["score"], best, MORE_LOST):
            program, before, best = trained, after, max(best, after["score"])
        elif retrainer.staying:
            retrainer.staying = (1.0 + retrainer.staying) / 2


def facts(task: Task, program: Program) -> dict[str, Any]:
    """On episodes that no score is reported from."""
    score = evaluate_program(task, program, EPISODES, seed=REPORTS.seed)
    return {"score": score.mean, "deviation": score.std, "numbers": program.coefficients, "program": str(program)}


if __name__ == "__main__":
    main()
