"""Commands about a saved program: show, eval, verify, export, report, watch."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from diprl.cli.options import JSONOption, PlayCommand, ProgramCommand, check_at_least
from diprl.errors import DiprlError, unknown


@dataclass(frozen=True, kw_only=True)
class Show(ProgramCommand, JSONOption):
    """Print a saved program, exactly as it runs."""

    def run(self) -> None:
        program = self.load_program()
        print(program.to_json() if self.json else program)


@dataclass(frozen=True, kw_only=True)
class Eval(PlayCommand, JSONOption):
    """Score a saved program on its environment."""

    episodes: int = 100
    """How many episodes."""
    seed: int | None = None
    """Seed of the first episode; default: the evaluation seeds."""

    def run(self) -> None:
        from diprl.arena.episodes import EVALUATION
        from diprl.arena.reference import evaluate_program

        program, task = self.load()
        score = evaluate_program(task, program, self.episodes, EVALUATION.seed if self.seed is None else self.seed)
        print(f"{task.name}: {score}")
        self.print_json(task=task.name, score=score.summary())


@dataclass(frozen=True, kw_only=True)
class Verify(ProgramCommand, JSONOption):
    """Prove or refute the properties of a specification.

    The exit code is 0 if all are proved, 1 if one is refuted or unknown, 2 after a mistake or an error.
    """

    spec: Annotated[Path, tyro.conf.Positional]
    """A file of properties in YAML."""
    certificates: Path | None = None
    """Folder for proofs about closed loops; those that are there already are checked again instead of searched."""

    def run(self) -> int:
        from diprl.verify import verify

        program = self.load_program()
        try:
            report = verify(program, self.spec, certificates=self.certificates)
        except (ArithmeticError, ValueError, RuntimeError, MemoryError) as error:
            # Exit code 1 means that a property is not proved; an error of ours must not look like that.
            raise DiprlError(f"the verification failed with an error: {error!r}") from error
        self.print_json(**report.to_dict()) if self.json else print(report)
        return 0 if report.proved else 1


@dataclass(frozen=True, kw_only=True)
class Export(ProgramCommand):
    """Write a saved program in another language and compare it with the interpreter; exit code 1 if they differ."""

    to: str = "python"
    """Targets, with commas between several: python, c, json, latex, svg, st, onnx."""
    out: Path = Path("export")
    """Folder for the files."""
    main: bool = False
    """Also write a C main that reads observations and prints actions."""

    def run(self) -> int:
        from diprl.export import TARGETS, export, write_files
        from diprl.export.c import render_main
        from diprl.system.files import check_writable
        from diprl.tasks.registry import networks_of

        targets = [target.strip() for target in self.to.split(",")]
        for target in targets:
            if target not in TARGETS:
                raise unknown("export target", target, TARGETS)
        if self.main and "c" not in targets:
            raise DiprlError("--main belongs to the C export: add --to c")
        program = self.load_program()
        networks = networks_of(program)
        check_writable(self.out)
        reports = [export(program, target, self.out, networks) for target in targets]
        print(*reports, sep="\n")
        if self.main:
            print(*("main: wrote", *write_files(render_main(program, networks), self.out)))
        return 0 if all(report.agrees for report in reports) else 1


@dataclass(frozen=True, kw_only=True)
class Report(ProgramCommand):
    """Write one HTML page about a run: program, scores, curves, partition, a rollout, proofs and exports."""

    out: Path | None = None
    """The page; default report.html in the run folder, or next to the program file."""
    features: str | None = None
    """One or two features to draw the partition over, with a comma between; default: those that matter most."""
    episodes: int = 10
    """Episodes from which the visited states are taken."""
    task: str | None = None
    """The environment to play in; default: the one the program was learnt on."""

    def run(self) -> None:
        from diprl.report import write_report

        check_at_least(self, episodes=1)
        page = write_report(self.program, self.out, self.features, self.episodes, self.task)
        print(f"wrote {page} ({page.stat().st_size / 1e6:.1f} MB)")


@dataclass(frozen=True, kw_only=True)
class Watch(PlayCommand):
    """Watch a saved program in a window, or record it without a screen."""

    episodes: int = 1
    """How many episodes."""
    seed: int = 0
    """Seed of the first episode."""
    record: Path | None = None
    """Write a film, FILE.gif or FILE.mp4, instead of opening a window."""
    fps: float = 25.0
    """At most so many pictures per second of the environment's time."""
    width: int = 480
    """At most so many pixels across."""

    def run(self) -> None:
        from diprl.report.episode import prepare_rendering
        from diprl.report.watch import record, show

        check_at_least(self, episodes=1, fps=1, width=32, seed=0)
        prepare_rendering()
        program, task = self.load()
        seeds = range(self.seed, self.seed + self.episodes)
        if self.record is None:
            returns = show(task, program, seeds)
        else:
            returns = record(task, program, self.record, seeds=seeds, fps=self.fps, width=self.width)
        for seed, earned in zip(seeds, returns, strict=True):
            print(f"seed {seed}: return {earned:.2f}")
        if self.record is not None:
            print(f"wrote {self.record} ({self.record.stat().st_size / 1e6:.1f} MB)")
