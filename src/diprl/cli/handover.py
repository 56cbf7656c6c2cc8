"""`diprl handover`: from a run to a controller that someone can sign for."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from diprl.cli.options import Count, JSONOption, MaybePath, MaybeText, WriteOptions, check_at_least, shown
from diprl.errors import DiprlError
from diprl.terminal.layout import say
from diprl.terminal.progress import Working

if TYPE_CHECKING:
    from diprl.handover import Facts
    from diprl.program import Program

TOLD = ("method", "preset", "seed", "steps_by_purpose", "score", "command", "versions", "device")
"""What a card tells of a run, by the names in result.json."""


@dataclass(frozen=True, kw_only=True)
class Handover(JSONOption, WriteOptions):
    """Write code, proofs, tests and a model card of a program as one folder and zip file; or check such a folder.

    The exit code is 1 if a requirement is not proved, code disagrees with the interpreter, or a check fails.
    """

    program: Annotated[Path | None, tyro.conf.Positional, shown("PROGRAM")] = None
    """A run folder or a program file."""
    spec: MaybePath = None
    """A file of requirements and properties in YAML, as for diprl verify."""
    out: MaybePath = None
    """The folder; default handover in the run folder, or next to the program file."""
    fallback: MaybeText = None
    """What to do with an observation that cannot be used: an action, or a number for each output."""
    episodes: Count = 20
    """Episodes from which the ranges of the features are taken; 0 plays none."""
    check: MaybePath = None
    """Check this hand-over instead, here and now."""

    def run(self) -> int:
        if self.check is not None:
            return self.verify(self.check)
        if self.program is None:
            raise DiprlError("name a run folder or a program file, or a hand-over with --check")
        check_at_least(self, episodes=0)
        with Working("reading the run") as working:
            from diprl.handover import write_handover
            from diprl.runs.folder import load_program, sibling

            program, folder = load_program(self.program), self.out or sibling(self.program, "handover")
            facts = self.facts(self.program, program)
            written = write_handover(program, folder, self.spec, facts, self.fallback, self.force, working.show)
        say(written)
        self.print_json(folder=written.folder, zip=written.zip, manifest=written.manifest, good=written.good)
        return 0 if written.good else 1

    def verify(self, folder: Path) -> int:
        from diprl.handover import check_handover

        with Working("checking"):
            steps = list(check_handover(folder))
        say("\n".join(map(str, steps)))
        self.print_json(steps=[step._asdict() for step in steps])
        return 1 if any(step.passed is False for step in steps) else 0

    def facts(self, path: Path, program: "Program") -> "Facts":
        """What the run tells, and where the program goes in some episodes that no score is taken from."""
        from diprl.handover import Facts
        from diprl.runs.folder import read_result, task_of

        result = read_result(path) if path.is_dir() else None
        content = {**result.to_json(), "score": result.score} if result else {}
        run = {key: str(content[key]) for key in TOLD if key in content}
        if not (self.episodes and program.task):
            return Facts(run)
        from diprl.arena.reference import visited_views

        views = visited_views(task_of(path, program), program, self.episodes)[:, : len(program.signature.features)]
        ends = zip(views.min(axis=0).astype(float).tolist(), views.max(axis=0).astype(float).tolist(), strict=True)
        tried = f"It was tried in {self.episodes} episodes for this hand-over, with {len(views):,} observations."
        return Facts(run, tuple(ends), tried)
