"""Files that are written whole or not at all, and read within bounds.

Links are never followed when writing, and only regular files are read: a run folder may come from a stranger.
"""

import json
import os
import secrets
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeGuard

from diprl.errors import DiprlError

NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
BINARY = getattr(os, "O_BINARY", 0)
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINKS | BINARY
LARGEST_JSON = 10_000_000
"""Bytes of a JSON file that are parsed at all."""
LARGEST_TARGET = 100_000_000
"""Bytes of a file that may be overwritten: a report with pictures takes a few megabytes."""
LARGEST_TEXT = 4_000_000
"""Bytes of a program or a specification that are read at all."""


def write_whole(path: Path, content: bytes, keep_as: Path | None = None) -> None:
    """Replace a file at once by a synced one; `keep_as` names the file that the old content moves to."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.partial")
    refuse_special(path)
    try:
        with os.fdopen(os.open(temporary, NEW_FILE, 0o666), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if keep_as is not None and path.exists():
            os.replace(path, keep_as)
        os.replace(temporary, path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            error.filename, error.filename2 = str(path), None  # the name that the user knows
        raise
    sync_folder(path.parent)


def refuse_special(path: Path) -> None:
    """Refuse to put a file in the place of a folder, a pipe or a device, or of a link to one."""
    if path.exists() and not path.is_file():
        raise DiprlError(f"{path}: not a regular file, so nothing is written there")


def check_target(path: Path, mark: str = "") -> None:
    """Prove that a file can be written, before the work for it is done.

    A file that is there already must hold the mark that ours hold: another one is not to be overwritten.
    """
    refuse_special(path)
    check_writable(path.parent)
    there = path.exists() and not path.is_symlink()  # a link is replaced, what it leads to stays
    if mark and there and mark not in read_bytes(path, LARGEST_TARGET).decode("utf-8", "replace"):
        raise DiprlError(f"{path} exists and was not written by diprl: choose another --out")


def write_text(path: Path, text: str) -> None:
    """Write UTF-8; half a character, which JSON from elsewhere may hold, is written as its escape."""
    write_whole(path, text.encode(errors="backslashreplace"))


def write_json(path: Path, content: Any) -> None:
    """Write strict JSON: a number that is not finite is an error here, not for the reader of the file."""
    write_text(path, json.dumps(content, indent=2, allow_nan=False) + "\n")


def append_line(path: Path, line: str) -> None:
    """Add a line to a file and wait until it is stored."""
    with open_regular(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as file:
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())


def read_bytes(path: Path, limit: int) -> bytes:
    """A regular file of bounded size."""
    with open_regular(path, os.O_RDONLY) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise DiprlError(f"{path}: larger than {limit} bytes, so not one of ours")
    return content


def read_text(path: Path, limit: int = LARGEST_TEXT) -> str:
    """A text file of bounded size."""
    try:
        return read_bytes(path, limit).decode("utf-8")
    except OSError as error:
        raise DiprlError(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise DiprlError(f"{path}: is not text in UTF-8") from error


def read_json(path: Path, limit: int = LARGEST_JSON) -> dict[str, Any]:
    """A JSON object from a file of bounded size."""
    try:
        content = json.loads(read_text(path, limit))
    except (ValueError, RecursionError) as error:
        raise DiprlError(f"{path}: not valid JSON") from error
    if not isinstance(content, dict):
        raise DiprlError(f"{path}: expected a JSON object")
    return content


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value from a file is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def open_regular(path: Path, flags: int) -> Any:
    """Open a regular file; a link is followed for reading only, and a pipe or a device is refused at once."""
    writing = flags & (os.O_WRONLY | os.O_RDWR)
    flags |= BINARY | getattr(os, "O_NONBLOCK", 0) | (NO_LINKS if writing else 0)
    mode = "ab" if flags & os.O_APPEND else "r+b" if flags & os.O_RDWR else "wb" if writing else "rb"
    file = os.fdopen(os.open(path, flags, 0o666), mode)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise DiprlError(f"{path}: not a regular file")
    return file


def cache_folder(name: str) -> Path | None:
    """A folder in the user's cache, or None where there can be none. DIPRL_CACHE moves it."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(os.environ.get("DIPRL_CACHE") or Path(base) / "diprl") / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK) else None


def check_writable(folder: Path) -> None:
    """Make the folder and prove that files can be created in it, or say why not."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise DiprlError(f"the output folder {folder} cannot be written: {error.strerror}") from error


def sync_folder(folder: Path) -> None:
    """Make a rename durable, where the system can sync folders at all."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
