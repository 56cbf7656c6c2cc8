"""Size against score: what `diprl train` ends with, what `diprl simplify` makes of it, and what others have published.

    python benchmarks/sizes.py measure --tasks Acrobot-v1 --seeds 123 321 456 --simplify
    python benchmarks/sizes.py page

`measure` trains with the default preset, or takes the run from results/records.jsonl where it is there, and plays the
program for 1,000 episodes on the reference environment, and each of its front for 200. With
`--simplify` it then does what `diprl simplify` does and plays again. With `--dense` it also trains with the same
budget, all features in every condition and no search. A line for each run goes to results/sizes/runs.jsonl, and what is
there is not run again. `page` writes the tables and figures.
"""

import argparse
import json
import os
import time
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from diprl.arena.reference import evaluate_program
from diprl.experiment.grid import Record, Store
from diprl.methods.presets import settings_for
from diprl.methods.registry import run as run_session
from diprl.methods.retrain import retrainer
from diprl.program import Program
from diprl.runs.result import Result
from diprl.runs.session import Session
from diprl.runs.spec import RunSpec
from diprl.search.simplify import simplify
from diprl.system.device import use_compilation_cache
from diprl.tasks.registry import load_task

FOLDER = Path("results/sizes")
RUNS = FOLDER / "runs.jsonl"
IMPROVED = Path("results/improved")
REPORTED, FURTHER = (123, 321, 456), (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
TASKS = ("CartPole-v1", "MountainCar-v0", "Acrobot-v1", "DoorKey-6x6", "LunarLander-v3")
EPISODES, FEWER = 1000, 200
"""Fewer for the programs of a front."""
DENSE = {"feature_entropy": 0.0, "polish_share": 0.0}
Run = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("measure", "page"))
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS)
    parser.add_argument("--seeds", nargs="+", type=int, default=REPORTED)
    parser.add_argument("--simplify", action="store_true")
    parser.add_argument("--seconds", type=float, help="for simplify, where the machine is busy with other things")
    parser.add_argument("--dense", action="store_true")
    options = parser.parse_args()
    use_compilation_cache()  # as the command does
    if options.action == "page":
        return write_page()
    for task in options.tasks:
        for seed in options.seeds:
            measure(task, seed, "default", options.simplify, options.seconds)
            if options.dense:
                measure(task, seed, "dense", simplified=False)
    return None


def measure(task: str, seed: int, kind: str, simplified: bool, seconds: float | None = None) -> None:
    """Train and play one run, unless that was done before; the last line of a run counts."""
    done = next((run for run in runs() if (run["task"], run["seed"], run["kind"]) == (task, seed, kind)), None)
    if done and (done.get("simplified") or not simplified):
        return
    run = done or train(task, seed, kind)
    if simplified:
        others = [Program.from_text(entry["program"]) for entry in run["front"]]
        run["simplified"] = shortened(task, Program.from_text(run["program"]), others, seed, seconds)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with RUNS.open("a", encoding="utf-8") as file:
        file.write(json.dumps(run) + "\n")
    short = {name: value for name, value in run.get("simplified", {}).items() if name not in ("program", "front")}
    print(task, seed, kind, f"{run['score']:.4g}", run["numbers"], short, flush=True)


def train(task: str, seed: int, kind: str) -> Run:
    result = result_of(task, seed, DENSE if kind == "dense" else {})
    assert result.program is not None
    run = {"task": task, "seed": seed, "kind": kind, "seconds": result.wall_seconds, **facts(task, result.program)}
    front = [facts(task, entry.program, FEWER) for entry in result.front or ()]
    return run | {"steps": result.total_steps, "front": front}


def result_of(task: str, seed: int, changes: dict[str, float]) -> Result:
    """The recorded run with these settings, or one that is made now."""
    spec = RunSpec(task, "diprl", settings_for("diprl", "default", load_task(task), **changes), seed)
    record = records().get(spec.key)
    return Result.from_json(record) if record else run_session(Session(spec, load_task(task)))


@cache
def records() -> dict[str, Record]:
    return Store(Path("results")).read()


def shortened(task: str, program: Program, others: list[Program], seed: int, seconds: float | None) -> Run:
    """What the command does with the program of a run, with the time it takes and that of all cores together."""
    began, busy = time.monotonic(), cpu_seconds()
    train = retrainer(load_task(task), program)
    found = simplify(load_task(task), program, others=others, seconds=seconds, seed=seed, train=train)
    times = {"seconds": round(time.monotonic() - began, 1), "cpu_seconds": round(cpu_seconds() - busy, 1)}
    front = [facts(task, entry.program, FEWER) for entry in found.front]
    return times | {"search_steps": found.steps, **facts(task, found.program), "front": front}


def cpu_seconds() -> float:
    """Of this process and of its children that have ended."""
    return sum(os.times()[:4])


def facts(task: str, program: Program, episodes: int = EPISODES) -> Run:
    score = evaluate_program(load_task(task), program, episodes)
    sizes = {"numbers": program.coefficients, "conditions": program.conditions, "digits": digits(program)}
    return {"score": score.mean, "deviation": score.std, **sizes, "program": str(program)}


def digits(program: Program) -> int:
    """The significant digits of its longest number."""
    return next(count for count in range(1, 18) if program.rounded(count) == program)


def runs() -> Iterator[Run]:
    """The latest line of every run."""
    if RUNS.exists():
        lines = [json.loads(line) for line in RUNS.read_text(encoding="utf-8").splitlines()]
        yield from {(run["task"], run["seed"], run["kind"]): run for run in lines}.values()


def write_page() -> None:
    done = list(runs())
    rows = [row for task in TASKS for row in task_rows(task, [run for run in done if run["task"] == task])]
    peers = tomllib.loads(Path(__file__).with_name("peers.toml").read_text(encoding="utf-8"))
    others = [
        f"| {task} | {name} | {peer['score']:g} | {peer['numbers']} | {best_below(task, done, peer['numbers'])} "
        f"| {peer['source']} |"
        for task, named in peers.items()
        for name, peer in named.items()
    ]
    text = PAGE.format(rows="\n".join(rows), peers="\n".join(others))
    (FOLDER / "README.md").write_text(text, encoding="utf-8")
    draw(done, peers)
    print(text)


def task_rows(task: str, done: list[Run]) -> Iterator[str]:
    for label, seeds, kind in (
        ("reported seeds", REPORTED, "default"),
        ("ten further seeds", FURTHER, "default"),
        ("dense, reported seeds", REPORTED, "dense"),
        ("dense, ten further seeds", FURTHER, "dense"),
    ):
        chosen = [run for run in done if run["kind"] == kind and run["seed"] in seeds]
        if chosen:
            short = [run["simplified"] for run in chosen if run.get("simplified")]
            after = summary(short, "cpu_seconds") if short else "– | – | – | –"
            some = f", {len(short)} simplified" if 0 < len(short) < len(chosen) else ""
            yield f"| {task} | {label}: {len(chosen)}{some} | {summary(chosen)} | {after} |"


def summary(found: list[Run], time: str = "seconds") -> str:
    score, numbers, seconds = (np.mean([run[name] for run in found]) for name in ("score", "numbers", time))
    return f"{score:.4g} | {numbers:.1f} | {max(run['digits'] for run in found)} | {seconds:.0f} s"


@cache
def improved(task: str) -> list[Run]:
    """What `diprl simplify` with other options made of some of these programs."""
    return [facts(task, Program.load(path)) for path in sorted(IMPROVED.glob(f"{task}-*-shorter.txt"))]


def programs(task: str, done: list[Run]) -> Iterator[Run]:
    """Every program that a run handed over, had on its front or was shortened to."""
    yield from improved(task)
    for run in done:
        if run["task"] == task and run["kind"] == "default":
            simplified = run.get("simplified")
            yield from [run, *run["front"], *([simplified, *simplified["front"]] if simplified else [])]


def best_below(task: str, done: list[Run], numbers: int) -> str:
    """Our best program with no more numbers than another, and what it scores on all episodes."""
    small = [each for each in programs(task, done) if 0 < each["numbers"] <= numbers]
    best = max(small, key=lambda each: each["score"], default=None)
    return f"{score_of(task, best['program']):.4g} with {best['numbers']}" if best else "–"


@cache
def score_of(task: str, program: str) -> float:
    return evaluate_program(load_task(task), Program.from_text(program), EPISODES).mean


def draw(done: list[Run], peers: dict[str, Any]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(TASKS), figsize=(4 * len(TASKS), 3.4), layout="constrained")
    for axis, task in zip(axes, TASKS, strict=True):
        ours = sorted(programs(task, done), key=lambda each: each["numbers"])
        best = np.maximum.accumulate([each["score"] for each in ours]) if ours else []
        axis.plot([each["numbers"] for each in ours], [each["score"] for each in ours], ".", color="C0", alpha=0.25)
        axis.step([each["numbers"] for each in ours], best, where="post", color="C0", label="diprl, best of a size")
        for name, peer in peers[task].items():
            axis.plot(peer["numbers"], peer["score"], "x", color="C3")
            place = (peer["numbers"], peer["score"])
            axis.annotate(name, place, fontsize=7, xytext=(3, -8), textcoords="offset points")
        scores = [*best, *(peer["score"] for peer in peers[task].values())]
        lowest = min(scores) - 0.1 * float(np.ptp(scores))
        axis.set(title=task, xlabel="numbers", xscale="log", ylim=(lowest, None))
    axes[0].set_ylabel("mean return, 1,000 episodes")
    axes[0].legend(fontsize=8)
    for kind in ("png", "svg"):
        figure.savefig(FOLDER / f"sizes.{kind}", dpi=110, metadata={"Date": None} if kind == "svg" else None)


PAGE = """# Size against score

Programs of `diprl train` with the default preset and the paper's budget, and what `diprl simplify` makes of them.
Scores are means over seeds of 1,000 episodes each on the reference environment. Digits are the most of any number.
Dense runs use the same budget, read all features in every condition and search for nothing. Times of training are from
the clock, on a machine that was busy with other things; those of `simplify` are of all cores together. Made by
`python benchmarks/sizes.py measure` and `page`; [every run](runs.jsonl) with its programs.

| task | runs | score | numbers | digits | time | simplified: score | numbers | digits | time |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
{rows}

![size against score](sizes.png)

Published small programs and trees, and our best program with no more numbers (1,000 episodes; that with 11 numbers for
LunarLander is [simplified twice](../improved/README.md)):

| task | other | score | numbers | ours | source of theirs |
| --- | --- | --- | --- | --- | --- |
{peers}
"""


if __name__ == "__main__":
    main()
