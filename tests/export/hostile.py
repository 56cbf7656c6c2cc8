"""Programs whose names and texts mean something in one of the target languages.

`python -m tests.export.hostile 1000 4` writes so many in every language, runs what was written, and counts, with four
processes.
"""

import keyword
import os
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing import Pool
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import numpy as np

from diprl.errors import DiprlError
from diprl.export import TARGETS, Samples, Written, c, c_check, draw, export, js
from diprl.export.guard import PLAIN
from diprl.export.parity import differing
from diprl.program.ast import Act, Affine, Blend, Condition, If
from diprl.program.program import Program
from diprl.program.signature import Continuous, Discrete, Feature, Primitives, Signature
from tests.export.structured_text import run_block
from tests.export.units import step_unit
from tests.node import NODE, run_node

WORDS = tomllib.loads(Path(__file__).with_name("hostile.toml").read_text(encoding="utf-8"))
NAMES = sorted({*keyword.kwlist, *" ".join(WORDS["names"].values()).split()} - {"if", "elif", "else", "in"})
TEXTS = [*WORDS["texts"], "", " ", "A" * 40]


def programs(count: int, seed: int = 0) -> Iterator[Program]:
    """Small programs of every kind; tasks begin with what is hostile and end with a number that keeps files apart."""
    generator = np.random.default_rng(seed)
    for number in range(count):
        names = [str(name) for name in generator.permutation(NAMES)]
        features = tuple(
            Feature(names.pop(), _text(generator), *_bounds(generator), _text(generator))
            for _ in range(int(generator.integers(1, 4)))
        )
        size, width = int(generator.integers(1, 4)), len(features)
        kind = number % 3
        if kind == 0:
            actions = Discrete(tuple(names[:size]))
        elif kind == 1:
            actions = Continuous(
                tuple(names[:size]), (-1.5,) * size, (2.0,) * size, tuple(_text(generator) for _ in range(size))
            )
        else:
            actions = Primitives(tuple(names[:size]), (-1.0, -0.5), (1.0, 0.5))

        def leaf(size: int = size, kind: int = kind, width: int = width) -> Act | Affine | Blend:
            if kind == 0:
                return Act(int(generator.integers(size)))
            if kind == 1:
                rows = tuple(tuple(generator.normal(size=width)) for _ in range(size))
                return Affine(rows, tuple(generator.normal(size=size)))
            return Blend(tuple(float(index == 0) for index in range(size)))

        root = leaf()
        for _ in range(int(generator.integers(0, 3))):
            condition = Condition(tuple(generator.normal(size=width).round(2)), round(float(generator.normal()), 2))
            root = If(condition, leaf(), root) if generator.random() < 0.7 else If(condition, root, leaf())
        yield Program(Signature(features, actions), root, f"{_text(generator)}{names.pop()} {number}")


def _text(generator: np.random.Generator) -> str:
    return TEXTS[int(generator.integers(len(TEXTS)))]


def _bounds(generator: np.random.Generator) -> tuple[float, float]:
    return (-np.inf, np.inf) if generator.random() < 0.5 else (-3.0, 4.0)


def try_all(chosen: Sequence[Program], folder: Path, parse_every: int = 1) -> Counter[str]:
    """Write every program in every language and run it; counts what came of it.

    The independent parser of Structured Text is slow, so that it may see some programs only.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    counts: Counter[str] = Counter()
    for number, program in enumerate(chosen):
        samples = draw(program, random=20, near=20)
        for target in sorted(TARGETS.keys() - {"c", "js"}):
            place = folder / f"{number}-{target}"
            try:
                report = export(program, target, place, samples=samples)
                wrong = sum(check.disagreements for check in report.checks)
                wrong += run_it(program, target, report.files, samples, parse=number % parse_every == 0)
            except DiprlError as reason:
                print(f"{target} of {program.task!r} is refused: {reason}")
                counts["refused"] += 1
            except Exception as error:
                print(f"{target} of {program.task!r}: {error!r:.300}\n{program}")
                counts["invalid"] += 1
            else:
                counts["valid"] += 1
                counts["wrong actions"] += wrong
    counts += try_c(chosen, folder / "c") if c_check.compiler() else Counter()
    return counts + (try_js(chosen, folder / "js") if NODE else Counter())


def run_it(program: Program, target: str, files: Sequence[Path], samples: Samples, parse: bool = True) -> int:
    """What tools other than ours say; how many observations go wrong."""
    blended = isinstance(program.signature.actions, Primitives)
    primitives = samples.primitive_actions if blended else None
    actions, flags = PLAIN.control(program, samples.features, program.act_batch(samples.features, primitives))
    if target == "st":
        if parse:
            import blark.parse

            (found,) = blark.parse.parse(files[0])
            assert found.exception is None, found.exception
        acted, status = run_block(Written(program, files, samples))
        return differing(acted, actions) + differing(status, flags)
    if target == "fmu":
        acted, status, _ = step_unit(program, files[0], samples)
        return differing(acted, actions) + differing(status, flags)
    if target == "svg":
        ElementTree.parse(files[0])
    if target == "latex":
        text = "".join(line for line in files[0].read_text().splitlines() if not line.startswith("%"))
        assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    return 0


def try_c(chosen: Sequence[Program], folder: Path, batch: int = 50) -> Counter[str]:
    """The same of C, many programs in one library."""
    folder.mkdir(parents=True)
    counts: Counter[str] = Counter()
    for start in range(0, len(chosen), batch):
        some, sources = chosen[start : start + batch], []
        for program in some:
            for name, text in c.render(program).items():
                (folder / name).write_text(text, encoding="utf-8")
                sources += [folder / name] if name.endswith(".c") else []
        library = c_check.Library(sources)
        for program in some:
            samples = draw(program, random=20, near=20)
            name = "play" if samples.primitive_actions is None else "blend"
            expected = program.act_batch(samples.features, samples.primitive_actions)
            counts["wrong actions"] += differing(library.run(program, samples, name), expected)
            counts["valid"] += 1
    return counts


PLAY = """
const result = [];
for (const [module, rows, mixed] of given) {
  const { play } = await import(module);
  result.push(rows.map((row, index) => play(row.map(Number), mixed && mixed[index])));
}
"""


def try_js(chosen: Sequence[Program], folder: Path) -> Counter[str]:
    """The same of JavaScript, all modules in one process."""
    given, expected = [], []
    for number, program in enumerate(chosen):
        ((name, text),) = js.render(program).items()
        (folder / str(number)).mkdir(parents=True)
        (folder / str(number) / name).write_text(str(text), encoding="utf-8")
        samples = draw(program, random=20, near=20)
        rows = [
            ["NaN" if np.isnan(x) else repr(x).replace("inf", "Infinity") for x in row]
            for row in samples.features.tolist()
        ]
        mixed = None if samples.primitive_actions is None else samples.primitive_actions.tolist()
        given.append([str(folder / str(number) / name), rows, mixed])
        expected.append(program.act_batch(samples.features, samples.primitive_actions))
    counts: Counter[str] = Counter(valid=len(chosen))
    for found, wanted in zip(run_node(PLAY, given, folder), expected, strict=True):
        acted = np.array([[np.nan if x is None else x for x in np.atleast_1d(row)] for row in found], float)
        wanted_rows = np.where(np.isfinite(wanted), wanted, np.nan).reshape(acted.shape)  # JSON has no infinities
        counts["wrong actions"] += differing(acted, wanted_rows)
    return counts


def work(task: tuple[int, int]) -> Counter[str]:
    """So many programs from one seed."""
    with TemporaryDirectory() as place:
        return try_all(list(programs(task[0], seed=task[1])), Path(place), parse_every=5)


if __name__ == "__main__":
    total, processes = int(sys.argv[1]), int(sys.argv[2])
    with Pool(processes) as pool:
        found = pool.map(work, [(total // processes, seed) for seed in range(processes)])
    print(dict(sum(found, Counter())))
