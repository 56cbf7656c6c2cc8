"""The code that this user has named before: one line per name, with the checksum of the file that ran then.

What ran once at the user's word may run again when a run folder asks for it, as long as the file has not changed.
"""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from diprl.errors import DiprlError
from diprl.system.files import LARGEST_JSON, append_line, read_bytes


def list_of_names() -> Path:
    """Where the names are kept, for this user alone."""
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(base) / "diprl" / "trusted.txt"


def checksum(file: Path) -> str:
    return hashlib.sha256(read_bytes(file, LARGEST_JSON)).hexdigest()


def remember(file: Path, name: str) -> None:
    """Keep that the user named this, as the file is now; where nothing can be written it is not kept."""
    with suppress(OSError, DiprlError):
        if remembered(file, name) != checksum(file):
            list_of_names().parent.mkdir(parents=True, exist_ok=True)
            append_line(list_of_names(), f"{checksum(file)} {_line(file, name)}\n")


def remembered(file: Path, name: str) -> str | None:
    """The checksum of the file when the user last named this; None where that never happened."""
    with suppress(OSError, DiprlError, UnicodeDecodeError):
        for line in reversed(read_bytes(list_of_names(), LARGEST_JSON).decode("utf-8").splitlines()):
            found, _, what = line.partition(" ")
            if what == _line(file, name):
                return found
    return None


def _line(file: Path, name: str) -> str:
    return ascii(f"{file} {name}")
