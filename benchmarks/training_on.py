"""Train programs on while numbers go, with different weights of the entropy over features.

    python benchmarks/training_on.py LunarLander-v3 --programs PROGRAM … --weights 0.03 0.05 --steps 1_000_000

A row per program and weight goes to results/tuning/training-on.jsonl, with both programs and their scores.
"""

import argparse
import json
from pathlib import Path

from diprl.arena.episodes import REPORTS
from diprl.arena.reference import evaluate_program
from diprl.methods.retrain import Retrainer
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
    options = parser.parse_args()
    task = load_task(options.task)
    for path in options.programs:
        program = Program.load(path)
        before = facts(task, program)
        for weight in options.weights:
            trained, steps = Retrainer(task, feature_entropy=weight).train(program, options.steps)
            row = {"task": task.name, "feature_entropy": weight, "steps": steps, "before": before}
            row["after"] = facts(task, merged(trained))
            with OUT.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(
                path, weight, *(f"{row[when]['score']:.1f} with {row[when]['numbers']}" for when in ("before", "after"))
            )


def facts(task: Task, program: Program) -> dict[str, object]:
    """On episodes that no score is reported from."""
    score = evaluate_program(task, program, EPISODES, seed=REPORTS.seed)
    return {"score": score.mean, "deviation": score.std, "numbers": program.coefficients, "program": str(program)}


if __name__ == "__main__":
    main()
