"""Do the conditions earn their place? Programs beside each primitive alone and the best blends that never change.

    python benchmarks/primitives.py                    # plays, writes results/primitives
    python benchmarks/primitives.py --tasks Pusher2D   # plays one task again

The programs are those of results/records.jsonl. All play the same 300 evaluation episodes.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from diprl.arena.reference import evaluate_program
from diprl.experiment.grid import Store
from diprl.methods.presets import settings_for
from diprl.methods.primitives import best_blends, chance, single_primitives
from diprl.program import Program
from diprl.runs.spec import RunSpec
from diprl.tasks.registry import load_task

FOLDER = Path("results/primitives")
TASKS = ("HalfCheetahHurdle-composed", "HalfCheetahHurdle", "Pusher2D", "AntRandomGoal", "AntCrossMaze")
SEEDS, EPISODES = (123, 321, 456), 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="*", choices=TASKS, default=TASKS)
    for task in parser.parse_args().tasks:
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / f"{task}.json").write_text(json.dumps(compare(task), indent=1) + "\n", encoding="utf-8")
        print(task, "played", flush=True)
    text = PAGE.format(tables="\n\n".join(table(task) for task in TASKS if (FOLDER / f"{task}.json").exists()))
    (FOLDER / "README.md").write_text(text, encoding="utf-8")


def compare(name: str) -> dict[str, Any]:
    """The score of everything, and how likely chance alone makes a program better than all that never change."""
    task, records = load_task(name), Store(Path("results")).read()
    settings = settings_for("diprl", "default", task)
    found = {seed: records.get(RunSpec(name, "diprl", settings, seed).key) for seed in SEEDS}
    programs = {f"program, seed {seed}": program_of(record) for seed, record in found.items() if record}
    constant = single_primitives(task) | best_blends(task)
    scores = {label: evaluate_program(task, each, EPISODES) for label, each in (programs | constant).items()}
    others = [scores[label] for label in constant]
    tests = {label: chance(scores[label], others) for label in programs}
    return {
        label: score.summary() | tests.get(label, {}) | {"program": str((programs | constant)[label])}
        for label, score in scores.items()
    }


def program_of(record: Any) -> Program:
    return Program.from_text(record["program"])


def table(task: str) -> str:
    scores: dict[str, dict[str, Any]] = json.loads((FOLDER / f"{task}.json").read_text(encoding="utf-8"))
    lines = [
        f"## {task}",
        "",
        "| | return | p | distance | success | p |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for label, score in scores.items():
        mean = f"{score['mean']:.2f}".replace("-", "−")
        returns, successes = (f"{score[name]:.1g}" if name in score else "" for name in ("p_return", "p_success"))
        lines.append(
            f"| {label} | {mean} | {returns} | {score['distance']:.3f} | {score['is_success']:.3f} | {successes} |"
        )
    return "\n".join(lines)


PAGE = """# Do the conditions earn their place?

The programs of seeds 123, 321 and 456 in [the records](../records.jsonl), every primitive by itself, and the best
blends that never change, found on a grid of shares and 20 validation episodes each. All play the same 300 evaluation
episodes. p says how likely chance alone makes a program better than each of those that never change: returns by
Student's test of pairs, successes by Fisher's exact test. Made by `python benchmarks/primitives.py`; for programs of
your own there is `diprl primitives compare`.

{tables}

On Pusher2D the programs earn more than both primitives and every blend. The ants need their conditions: without any,
walking up reaches the goal straight ahead in the maze, and nothing reaches others. The blend with the highest return on
AntRandomGoal gets it by never arriving, and a program [trained for the return](../other-tasks/README.md) gets more. On
HalfCheetahHurdle conditions add nothing: the forward gait, trained on the track, clears every bar alone. The skills of
HalfCheetahHurdle-composed were learnt away from the track.
"""


if __name__ == "__main__":
    main()
