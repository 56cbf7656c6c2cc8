"""`diprl primitives`: the frozen controllers that programs blend."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from diprl.cli.options import Count, JSONOption, MaybeCount, MaybePath, shown
from diprl.errors import DiprlError
from diprl.terminal.layout import Column, print_table, say
from diprl.terminal.progress import Display, Working


@dataclass(frozen=True, kw_only=True)
class List(JSONOption):
    """List the primitives with their scores and the commands that made them."""

    def run(self) -> None:
        from diprl.tasks.mujoco.primitive_tasks import primitive_tasks
        from diprl.tasks.mujoco.primitives import bundled_primitive

        rows: list[dict[str, Any]] = []
        for name in primitive_tasks():
            try:
                primitive = bundled_primitive(name)
                rows.append({"primitive": name, "score": primitive.score, "made by": primitive.command})
            except DiprlError as error:
                rows.append({"primitive": name, "score": None, "made by": str(error)})
        columns = [Column("primitive", left=True), Column("score"), Column("made by", below=True, left=True)]
        self.print_json(primitives=rows) if self.json else print_table(columns, rows)


@dataclass(frozen=True, kw_only=True)
class Train(JSONOption):
    """Train primitives and write them where the tasks find them."""

    name: Annotated[str, tyro.conf.Positional, shown("NAME")]
    """A primitive (see `diprl primitives list`), or `all`."""
    seed: Count = 0
    """Seed of the training."""
    total_timesteps: MaybeCount = None
    """Environment steps; default: the primitive's own budget."""
    out: MaybePath = None
    """Folder of the finished files; default: the installed package, whose tasks then use them."""
    runs: Path = Path("runs/primitives")
    """Folder of logs and checkpoints; a stopped training goes on from there."""
    episodes: Count = 100
    """Episodes that the score is measured on."""

    def run(self) -> None:
        from diprl.methods.primitives import find_primitive_task, train_primitive
        from diprl.system.device import use_compilation_cache
        from diprl.system.files import check_writable
        from diprl.tasks.mujoco.primitive_tasks import primitive_tasks
        from diprl.tasks.mujoco.primitives import SUFFIX, data_folder, save_primitive

        use_compilation_cache()
        names, out = list(primitive_tasks()) if self.name == "all" else [self.name], self.out or data_folder()
        for name in names:
            find_primitive_task(name)
        check_writable(out)
        options = {"seed": self.seed, "total_timesteps": self.total_timesteps, "episodes": self.episodes}
        scores = {}
        for name in names:
            with Display() as display:
                folder = self.runs / f"{name}-seed{self.seed}"
                primitive = train_primitive(name, folder, observers=(display,), **options)
            save_primitive(primitive, out / f"{name}{SUFFIX}")
            scores[name] = primitive.score
            say(f"{name}: score {primitive.score:.2f}, written to {out / name}{SUFFIX}")
        self.print_json(scores=scores, folder=out)


def small(tests: dict[str, float]) -> dict[str, str]:
    """Probabilities as a table shows them."""
    return {name: f"{value:.2g}" for name, value in tests.items()}


@dataclass(frozen=True, kw_only=True)
class Compare(JSONOption):
    """Score learnt programs next to each primitive alone and the best blends that never change."""

    task: Annotated[str, tyro.conf.Positional, shown("TASK")]
    """A task whose programs blend primitives."""
    programs: Annotated[tuple[Path, ...], tyro.conf.Positional, shown("PROGRAM …")] = ()
    """Run folders or program files to compare."""
    episodes: Count = 300
    """Episodes that each score is measured on."""

    def run(self) -> None:
        from diprl.arena.reference import evaluate_program
        from diprl.methods.primitives import best_blends, chance, single_primitives
        from diprl.runs.folder import load_program
        from diprl.tasks.registry import load_task

        task, scores = load_task(self.task), {}
        with Working("choosing the best blends") as working:
            rows = {str(path): load_program(path) for path in self.programs}
            constant = single_primitives(task) | best_blends(task)
            rows |= constant
            working.show(f"playing {self.episodes:,} episodes each")
            for name in working.each(list(rows)):
                scores[name] = evaluate_program(task, rows[name], self.episodes)
        others = [scores[name] for name in constant]
        tests = {name: chance(score, others) if name not in constant else {} for name, score in scores.items()}
        shown_rows = [{"program": name, "score": str(scores[name])} | small(tests[name]) for name in rows]
        left = [Column(name, left=True) for name in ("program", "score")]
        print_table(left + [Column(name) for name in small(next(iter(tests.values())))], shown_rows)
        if self.programs:
            say("p: how likely chance alone makes a program this much better than each of those that never change")
        table = {name: score.summary() | tests[name] | {"program": str(rows[name])} for name, score in scores.items()}
        self.print_json(task=task.name, scores=table)


@dataclass(frozen=True)
class Primitives:
    """The primitives that programs blend: list them, train them, or see what programs add to them."""

    action: Annotated[
        Annotated[List, tyro.conf.subcommand("list")]
        | Annotated[Train, tyro.conf.subcommand("train")]
        | Annotated[Compare, tyro.conf.subcommand("compare")],
        tyro.conf.arg(name=""),
    ]

    def run(self) -> None:
        self.action.run()
