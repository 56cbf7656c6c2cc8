"""What one decision takes: operations along the longest way, and the stack that compilers say it needs."""

import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from diprl.export import c_check, structure
from diprl.program import Program
from diprl.program.ast import flatten, fold, number_rows

CORTEX_M = ("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb")
"""The compiler for a small controller, with what it compiles for."""


class Effort(NamedTuple):
    """The operations of one way through a program."""

    multiplications: int = 0
    additions: int = 0
    comparisons: int = 0
    way: str = ""
    """T for each condition that holds on it, F for each that fails."""

    def __str__(self) -> str:
        counts = f"{self.multiplications} multiplications, {self.additions} additions, {self.comparisons} comparisons"
        return f"{counts}, in {len(self.way)} conditions ({self.way[:100] or 'none'})"


def longest_way(program: Program) -> Effort:
    """The way with the most operations, worked out from the leaves up."""

    def cost(rows: list[tuple[float, ...]]) -> Effort:
        terms = [[weight for weight in row if weight] for row in rows]
        products = sum(abs(weight) != 1.0 for row in rows for weight in row[:-1] if weight)
        return Effort(products, sum(max(0, len(row) - 1) for row in terms), 2 * len(rows))

    def longer(own: Effort, *branches: Effort) -> Effort:
        then, orelse = (sum(branch[:3]) for branch in branches)
        after, letter = (branches[0], "T") if then >= orelse else (branches[1], "F")
        totals = (mine + rest for mine, rest in zip(own[:2], after[:2], strict=True))
        return Effort(*totals, after.comparisons + 1, letter + after.way)

    return fold(
        flatten(program.root),
        lambda leaf: cost(number_rows(leaf)),
        lambda condition, then, orelse: longer(cost(number_rows(condition)), then, orelse),
    )


def stacks(program: Program, sources: Path) -> dict[str, str]:
    """Bytes of stack of `control` and what it calls, by compiler; none calls itself."""
    native = [(found,) for found in [c_check.compiler()] if found and "gcc" in Path(found).resolve().name]
    name, found = structure.prefix(program), {}
    for command in [*native, *([CORTEX_M] if shutil.which(CORTEX_M[0]) else [])]:
        with TemporaryDirectory() as folder:
            options = ["-std=c99", "-O2", "-fstack-usage", "-c", str((sources / f"{name}.c").resolve()), "-o", "unit.o"]
            subprocess.run([*command, *options], cwd=folder, capture_output=True, check=False)
            told = Path(folder) / "unit.su"
            text = told.read_text(encoding="utf-8") if told.exists() else ""
        sizes = {key: int(size) for key, size in re.findall(rf":{name}_(\w+)\t(\d+)\t", text)}
        called = max(sizes.get("status", 0), sizes.get("play", 0) + sizes.get("clip", 0))
        label = " ".join((Path(command[0]).name, *command[1:]))
        found[label] = f"{sizes['control'] + called} bytes" if sizes else "it did not compile"
    return found
