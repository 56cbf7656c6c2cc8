"""What commands print: programs, results, depths, tasks, findings, the steps of a simplification."""

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
    from diprl.arena.score import Gap, Score
    from diprl.runs.result import Depth, Result

SHOWN_DIGITS = 3


def body(program: Program) -> str:
    """The program without its header."""
    return "\n".join(format_body(program.signature, program.root))


def highlighted(program: Program, console: Console) -> Syntax:
    """The program in colour; a condition that is too long goes on further in."""
    lines = [part for line in body(program).splitlines() for part in fitted(line, console, continuation(line))]
    return Syntax("\n".join(lines), "python", theme="ansi_dark", background_color="default", word_wrap=True)


def continuation(line: str) -> str:
    return " " * (len(line) - len(line.lstrip()) + 8)


def rounded(program: Program, console: Console) -> Syntax:
    """The program in colour with few digits, for a quick look while it still changes."""
    return highlighted(program.rounded(SHOWN_DIGITS), console)


def print_program(program: Program, console: Console | None = None) -> None:
    """In colour for a person; line by line as it is for a file or another program."""
    console = console or plain_console()
    if console.is_terminal:
        console.print(highlighted(program, console))
    else:
        console.file.write(body(program) + "\n")
    console.print()


def print_depths(rows: Sequence["Depth"], console: Console | None = None) -> None:
    """One row per depth, an arrow at the pick."""
    cells = [row._asdict() | {"": "→" if row.picked else "", "numbers": row.coefficients} for row in rows]
    print_table([Column(name) for name in ("", "depth", "conditions", "numbers", "score", "gap")], cells, console)


def result_table(result: "Result", title: str) -> str:
    """A result in a few lines: what it is, how it was trained, and its depths."""
    console, spec = plain_console(width=100, force_terminal=False, no_color=True), result.spec
    with console.capture() as capture:
        say(f"{title} on {spec.task}, seed {spec.seed}, {result.total_steps:,} steps", console)
        if result.depths:
            print_depths(result.depths, console)
    return capture.get().rstrip()


def print_result(result: "Result", folder: Path | None) -> None:
    """The end of `diprl train`: what was learnt, its score, what hardening cost, the depths, and the files."""
    print_title(f"{result.spec.task}, seed {result.spec.seed}")
    print_learnt(result)
    say_labelled("score", result.score)
    if result.gap is not None:
        say_labelled("relaxed", gap_text(result.gap))
    say_labelled("trained", steps_text(result))
    if result.depths:
        print_depths(result.depths)
    if folder:
        say_labelled("files", folder)


def print_title(text: str) -> None:
    plain_console().rule(visible(text))


def print_learnt(result: "Result") -> None:
    """The program as it runs, or what kind of network it is."""
    if result.program is not None:
        print_program(result.program)
    else:
        say_labelled("network", f"two hidden layers of {result.spec.settings.ppo.hidden_size} units, no program")


def gap_text(gap: "Gap") -> str:
    parts = f"architecture {gap.architecture:.2f}, condition {gap.condition:.2f}, terminal {gap.terminal:.2f}"
    return f"{gap.relaxed:.2f}, gap {gap.total:.2f} ({parts}), entropy {abs(gap.entropy):.4f}"


def steps_text(result: "Result") -> str:
    """Environment steps by what they were taken for."""
    purposes = ", ".join(f"{name} {steps:,}" for name, steps in result.steps.items())
    split = f" ({purposes})" if len(result.steps) > 1 else ""
    return f"{result.total_steps:,} environment steps{split}, {result.wall_seconds:.1f} s in all"


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
    """What `diprl doctor` found."""
    test = findings["self_test"]
    say(f"diprl {findings['diprl']}, Python {findings['python']}, {', '.join(findings['devices'])}")
    for title in ("packages", "tasks"):
        say()
        rows = [{title: name, "": found} for name, found in findings[title].items()]
        print_table([Column(title, left=True), Column("", left=True)], rows)
    say(f"\nself-test {'passed' if test['passed'] else 'FAILED'} in {test['seconds']} s")


STAGE_COLUMNS = f"{'conditions':>10} {'numbers':>8} {'score':>9}  step"


def stage_line(stage: Any) -> str:
    """Size against score of one accepted step of a simplification."""
    return f"{stage.program.conditions:>10} {stage.program.coefficients:>8} {stage.score:>9.2f}  {stage.what}"
