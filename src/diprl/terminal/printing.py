"""What commands print: programs, results, fronts, tasks, findings, the steps of a simplification."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.syntax import Syntax

from diprl.errors import visible
from diprl.program import Program
from diprl.program.text_format import format_body
from diprl.terminal.layout import Column, fitted, plain_console, print_table, say, say_labelled

if TYPE_CHECKING:
    from diprl.arena.score import Score
    from diprl.runs.result import Result
    from diprl.search.front import Front

SHOWN_DIGITS = 3
MOST_ROWS = 12
"""Sizes that a front shows."""


def body(program: Program) -> str:
    """The program without its header."""
    return "\n".join(format_body(program.signature, program.root))


def highlighted(program: Program, console: Console) -> Syntax:
    """The program in colour; a condition that is too long goes on further in."""
    parts = [fitted(line, console, " " * (len(line) - len(line.lstrip()) + 8)) for line in body(program).splitlines()]
    lines = [part for line in parts for part in line]
    return Syntax("\n".join(lines), "python", theme="ansi_dark", background_color="default", word_wrap=True)


def print_program(program: Program) -> None:
    """In colour for a person; line by line as it is for a file or another program."""
    console = plain_console()
    if console.is_terminal:
        console.print(highlighted(program, console))
    else:
        console.file.write(body(program) + "\n")
    console.print()


def print_front(front: "Front", console: Console | None = None) -> None:
    """Size against score on validation episodes, an arrow at the program to take; a dozen sizes at most."""
    rows = []
    for index in shown_sizes(len(front), front.picked):
        entry = front.entries[index]
        low, high = entry.interval
        sizes = {"numbers": entry.program.coefficients, "conditions": entry.program.conditions}
        scores = {"score": entry.mean, "95% interval": f"{low:.2f} to {high:.2f}"}
        rows.append({"": "→" if index == front.picked else ""} | sizes | scores)
    print_table([Column(name) for name in ("", "numbers", "conditions", "score", "95% interval")], rows, console)


def shown_sizes(count: int, picked: int) -> list[int]:
    """The smallest, the largest and the one to take, with others evenly between them."""
    even = {round(row * (count - 1) / (MOST_ROWS - 1)) for row in range(MOST_ROWS)}
    return sorted(even | {picked})


def result_table(result: "Result", title: str) -> str:
    """A result in a few lines: what it is, how it was trained, and its programs by size."""
    console, spec = plain_console(width=100, force_terminal=False, force_jupyter=False, color_system=None), result.spec
    with console.capture() as capture:
        say(f"{title} on {spec.task}, seed {spec.seed}, {result.total_steps:,} steps", console)
        if result.front:
            print_front(result.front, console)
    return capture.get().rstrip()


def print_result(result: "Result", folder: Path | None) -> None:
    """The end of `diprl train`: what was learnt, its score, what it cost to make it discrete and short, the files."""
    print_title(f"{result.spec.task}, seed {result.spec.seed}")
    if result.program is not None:
        print_program(result.program)
    else:
        say_labelled("network", f"two hidden layers of {result.spec.settings.ppo.hidden_size} units, no program")
    say_labelled("score", result.score)
    if result.gap is not None:
        gap = result.gap
        parts = f"architecture {gap.architecture:.2f}, condition {gap.condition:.2f}, terminal {gap.terminal:.2f}"
        text = f"{gap.relaxed:.2f}, gap {gap.total:.2f} ({parts}), entropy {abs(gap.entropy):.4f}"
        say_labelled("relaxed", text)
    if result.front is not None and result.extracted is not None:
        say_labelled("shorter", shortening_text(result.extracted, result.front))
    if result.chosen:
        values = ", ".join(f"{name} {value:g}" for name, value in result.chosen.items())
        say_labelled("chosen", f"{values} (the best of those tried)")
    say_labelled("trained", steps_text(result))
    if result.front:
        say("\nprograms by size, scored on validation episodes (diprl show RUN --size N)\n")
        print_front(result.front)
        say()
    if folder:
        say_labelled("files", folder)


def print_title(text: str) -> None:
    plain_console().rule(visible(text))


def shortening_text(before: Program, front: "Front") -> str:
    """What became of the program that was read off, and of its score on validation episodes."""
    after = front.entries[front.picked]
    sizes = (f"{each.coefficients} numbers in {each.conditions}" for each in (before, after.program))
    scores = f"validation {front.entries[-1].mean:.2f} → {after.mean:.2f}"
    return "from {} to {} conditions, ".format(*sizes) + scores


def steps_text(result: "Result") -> str:
    """Environment steps by what they were taken for."""
    purposes = ", ".join(f"{name} {steps:,}" for name, steps in result.steps.items())
    split = f" ({purposes})" if len(result.steps) > 1 else ""
    used = f"{result.total_steps:,} environment steps{split}, {result.wall_seconds:.1f} s in all"
    budget = result.spec.settings.ppo.total_timesteps
    return used if not result.ended else f"{used}; stopped before {budget:,} steps: {result.ended}"


def print_seeds(score: "Score") -> None:
    """The mean over seeds, each of which counts as one."""
    low, high = score.ci95
    print_title(f"{len(score.returns)} seeds")
    say_labelled("mean", f"{score.mean:.2f} (95% interval {low:.2f} to {high:.2f}, over seeds)")


TASKS = [
    Column("task", left=True),
    Column("backend", left=True),
    *(Column(name) for name in ("horizon", "budget", "paper")),
    *(Column(name, below=True, left=True) for name in ("features", "actions", "missing")),
]
RUNS = [
    Column("run", below=True, left=True),
    Column("task", left=True),
    Column("method", left=True),
    *(Column(name) for name in ("seed", "score", "conditions", "numbers")),
    Column("state", left=True),
]
COMPARED = [
    *(Column(name) for name in ("", "score", "difference", "95% interval", "conditions", "numbers", "alike")),
    Column("program", below=True, left=True),
]


def print_runs(runs: Sequence[dict[str, Any]]) -> None:
    """One row per run; what is to be done about some of them follows."""
    print_table(RUNS, [run | {"seed": str(run.get("seed", ""))} for run in runs])
    for note in [f"{run['run']}: {run['state']}, {run['note']}" for run in runs if run["note"]]:
        say(f"\n{note}")


def print_compared(rows: Sequence[dict[str, Any]]) -> None:
    """Programs beside the first of them, each under its number."""
    shown: list[dict[str, Any]] = []
    for number, row in enumerate(rows, 1):
        paired = {}
        if row["gain"]:
            interval = "{:+.2f} to {:+.2f}".format(*row["gain"]["ci95"])
            paired = {"difference": f"{row['gain']['mean']:+.2f}", "95% interval": interval}
            paired["alike"] = f"{row['alike']:.1%}"
        shown.append(row | paired | {"": number, "score": row["score"]["mean"], "program": row["path"]})
    print_table(COMPARED, shown)


def print_findings(findings: dict[str, Any]) -> None:
    test = findings["self_test"]
    say(f"diprl {findings['diprl']}, Python {findings['python']}, {', '.join(findings['devices'])}")
    for title in ("packages", "tasks"):
        say()
        rows = [{title: name, "": found} for name, found in findings[title].items()]
        print_table([Column(title, left=True), Column("", left=True)], rows)
    say(f"\nself-test {'passed' if test['passed'] else 'FAILED'} in {test['seconds']} s")


STAGE_COLUMNS = f"{'conditions':>10} {'numbers':>8}  step"


def stage_line(what: str, program: Program) -> str:
    """One step of a simplification and the size that it led to."""
    return f"{program.conditions:>10} {program.coefficients:>8}  {what}"
