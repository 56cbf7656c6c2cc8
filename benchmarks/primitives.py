"""Do conditions earn their place where programs put primitives together?

    python benchmarks/primitives.py measure [--tasks Pusher2D]
    python benchmarks/primitives.py page

`measure` plays the programs of seeds 123, 321 and 456, each primitive by itself and the best blends that never change.
It does what `diprl primitives compare TASK PROGRAM … --json` does, and writes what that prints to
results/primitives/TASK.json. Programs come from results/records.jsonl; a task that has no record there is trained with
default settings. `page` writes the tables.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from diprl.program import Program
from sizes import result_of

FOLDER = Path("results/primitives")
TASKS = ("HalfCheetahHurdle", "HalfCheetahHurdle-composed", "Pusher2D", "AntRandomGoal", "AntCrossMaze")
SEEDS = (123, 321, 456)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("measure", "page"))
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS)
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    options = parser.parse_args()
    if options.action == "page":
        write_page()
    else:
        for task in options.tasks:
            measure(task, options.seeds)


def measure(task: str, seeds: list[int]) -> None:
    with TemporaryDirectory() as folder:
        for seed in seeds:
            learnt = result_of(task, seed, {}).program
            assert learnt is not None
            learnt.save(Path(folder) / f"seed-{seed}.txt")
        files = sorted(str(path) for path in Path(folder).iterdir())
        command = [sys.executable, "-m", "diprl", "primitives", "compare", task, *files, "--json"]
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found = json.loads(printed)
    scores = {Path(name).stem.replace("-", " "): score for name, score in found["scores"].items()}
    content = {"task": task, "scores": scores}
    (FOLDER / f"{task}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def write_page() -> None:
    found = [json.loads((FOLDER / f"{task}.json").read_text(encoding="utf-8")) for task in TASKS]
    text = PAGE.format(tables="\n".join(line for task in found for line in table(task["task"], task["scores"])))
    (FOLDER / "README.md").write_text(text.rstrip() + "\n", encoding="utf-8")
    print(text)


def table(task: str, scores: dict[str, Any]) -> list[str]:
    episodes = next(iter(scores.values()))["episodes"]
    head = ["| | numbers | return | distance | success | p, return | p, success |", "| --- |" + " ---: |" * 6]
    return [f"## {task}, {episodes} episodes", "", *head, *(row(*each) for each in scores.items()), ""]


def row(name: str, score: dict[str, Any]) -> str:
    is_program = name.startswith("seed")
    numbers = str(Program.from_text(score["program"]).coefficients) if is_program else ""
    chances = [f"{score[key]:.2g}" if key in score else "" for key in ("p_return", "p_success")]
    shown = [numbers, f"{score['mean']:.2f}".replace("-", "−"), f"{score['distance']:.3f}"]
    cells = [f"program, {name}" if is_program else name, *shown, f"{score['is_success']:.3f}", *chances]
    return f"| {' | '.join(cells)} |"


PAGE = """# Do the conditions earn their place?

Programs of `diprl train` with default settings and seeds 123, 321 and 456, every primitive by itself, and the best
blends that never change, found on a grid of shares and 20 validation episodes each. All play the same evaluation
episodes. p says how likely chance alone makes the program this much better than each of those that never
change: Student's test on paired returns, Fisher's exact test on successes. Made by `python benchmarks/primitives.py
measure` and `page`; what `diprl primitives compare` printed, with all programs, lies beside this page.

On the hurdles of the paper conditions add nothing: the forward gait was trained on the track and clears every bar
alone, and the programs found that out. Composed of skills learnt elsewhere they need one. The ants need theirs: without
any, walking up reaches the goal straight ahead in the maze, and nothing reaches others. The blend with the highest
return on AntRandomGoal gets it by never arriving, and a program
[trained for the return](../other-tasks/README.md) gets more.

{tables}
"""


if __name__ == "__main__":
    main()
