"""What one decision takes: operations along the longest way, and the stack that compilers say it needs."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from diprl.export import c_check, structure
from diprl.program import Program
from diprl.program.ast import Condition, number_rows
from diprl.program.paths import descend

CORTEX_M = ("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb")
"""The compiler for a small controller, with what it compiles for."""


@dataclass(frozen=True)
class Effort:
    """The most that one decision can take."""

    conditions: int
    multiplications: int
    additions: int
    comparisons: int
    path: tuple[int, ...]
    """The numbers of the conditions on the longest way, from one; negative where the condition is false on it."""
    stack: dict[str, int]
    """Bytes of stack of `control` and what it calls, by compiler."""

    def __str__(self) -> str:
        counts = f"{self.multiplications} multiplications, {self.additions} additions, {self.comparisons} comparisons"
        return f"{counts} in at most {self.conditions} conditions"


def effort_of(program: Program, sources: Path) -> Effort:
    """Count along every way through the program; the sources are compiled to see what stack they need."""
    numbers = iter(range(1, program.conditions + 1))
    Cost = tuple[int, int, int, tuple | None]

    def split(condition: Condition, before: Cost) -> tuple[Cost, Cost]:
        multiplied, added, compared, way = before
        products, sums = _operations(number_rows(condition)[0])
        number, cost = next(numbers), (multiplied + products, added + sums, compared + 1)
        return (*cost, (number, way)), (*cost, (-number, way))

    worst: Cost = (0, 0, 0, None)
    for leaf, (products, sums, compared, way) in descend(program.root, (0, 0, 0, None), split):
        rows = [_operations(row) for row in number_rows(leaf)]
        cost = (
            products + sum(row[0] for row in rows),
            sums + sum(row[1] for row in rows),
            compared + 2 * len(rows),
            way,
        )
        worst = max(worst, cost, key=lambda each: sum(each[:3]))
    path, way = [], worst[3]
    while way is not None:
        number, way = way
        path.append(number)
    return Effort(len(path), *worst[:3], tuple(reversed(path)), _stacks(program, sources))


def _operations(row: tuple[float, ...]) -> tuple[int, int]:
    """Multiplications and additions of one linear form."""
    *weights, bias = row
    terms = [weight for weight in weights if weight]
    return sum(abs(weight) != 1.0 for weight in terms), max(0, len(terms) - 1 + bool(terms and bias))


def _stacks(program: Program, sources: Path) -> dict[str, int]:
    compilers = [(found,) for found in [c_check.compiler()] if found and "gcc" in Path(found).resolve().name]
    compilers += [CORTEX_M] if shutil.which(CORTEX_M[0]) else []
    found = {
        " ".join((Path(command[0]).name, *command[1:])): _stack(program, sources, command) for command in compilers
    }
    return {name: size for name, size in found.items() if size is not None}


def _stack(program: Program, sources: Path, command: tuple[str, ...]) -> int | None:
    """`control` calls `status`, then `play`, which may call `clip`; none calls itself."""
    name = structure.prefix(program)
    with TemporaryDirectory() as folder:
        compile_it = [
            *command,
            "-std=c99",
            "-O2",
            "-fstack-usage",
            "-c",
            str((sources / f"{name}.c").resolve()),
            "-o",
            "unit.o",
        ]
        done = subprocess.run(compile_it, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            return None
        text = (Path(folder) / "unit.su").read_text(encoding="utf-8")
    sizes = {key: int(size) for key, size in re.findall(rf":{name}_(\w+)\t(\d+)\t", text)}
    called = max(sizes.get("status", 0), sizes.get("play", 0) + sizes.get("clip", 0))
    return sizes["control"] + called
