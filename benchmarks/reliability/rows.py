"""The table in docs/reliability.md: each script writes its own row and leaves the others alone."""

import shlex
import sys
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "reliability.md"


def record(what: str, count: str, lost: int | str, unclear: int | str, note: str) -> None:
    """Put a row into the table, in the place of the one that begins alike."""
    command = shlex.join(["python", f"benchmarks/reliability/{Path(sys.argv[0]).name}", *sys.argv[1:]])
    row = f"| {what} | {count} | {lost} | {unclear} | {note} | `{command}` |"
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    old = [index for index, line in enumerate(lines) if line.startswith(f"| {what} |")]
    last = max(index for index, line in enumerate(lines) if line.startswith("| "))
    if old:
        lines[old[0]] = row
    else:
        lines.insert(last + 1, row)
    DOCUMENT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(row)
