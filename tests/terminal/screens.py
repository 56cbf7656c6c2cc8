"""Commands in a terminal of a given width, as a person would see them."""

import os
import pty
import struct
import subprocess
import sys
import time
from dataclasses import dataclass, field
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

import pyte

WIDER, HIGHER = 160, 100
"""The emulator is wider than the terminal that the command believes in, so a line that is too long shows."""


@dataclass
class Screen:
    """What a command left in the terminal, and what it showed on the way."""

    lines: list[str]
    code: int
    first: float
    """Seconds until something could be seen."""
    frames: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def words(self) -> set[str]:
        return set(self.text.split())


def capture(arguments: list[str], columns: int, folder: Path) -> Screen:
    """Run `diprl` in a pseudo-terminal of so many columns."""
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", 60, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    screen = pyte.Screen(WIDER, HIGHER)
    stream, frames, began, first = pyte.ByteStream(screen), list[str](), time.monotonic(), float("inf")
    process = subprocess.Popen(
        [sys.executable, "-m", "diprl", *arguments],
        **dict.fromkeys(("stdin", "stdout", "stderr"), theirs),
        cwd=folder,
        env=environment | {"TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(theirs)
    while data := read(ours):
        stream.feed(data)
        frames.append("\n".join(shown(screen)))
        if frames[-1].strip():
            first = min(first, time.monotonic() - began)
    os.close(ours)
    return Screen(shown(screen), process.wait(), first, frames)


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end is closed
        return b""


def shown(screen: pyte.Screen) -> list[str]:
    lines = [line.rstrip() for line in screen.display]
    return lines[: max((number for number, line in enumerate(lines, 1) if line), default=0)]
