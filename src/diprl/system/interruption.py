"""Ctrl-C while training: stop where the run has just been saved, and say how to go on."""

import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Interruption:
    """An observer that ends the run at the first snapshot after Ctrl-C; a second Ctrl-C ends it at once."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, snapshot: Any = None) -> None:
        """End the run if that was asked for."""
        if self.asked:
            raise KeyboardInterrupt

    @contextmanager
    def listening(self, commands: Iterable[str]) -> Iterator[None]:
        """Listen to Ctrl-C while runs train that these commands would go on with."""
        before = signal.getsignal(signal.SIGINT)

        def ask(number: int, frame: FrameType | None) -> None:
            self.asked = True
            signal.signal(signal.SIGINT, before)
            print("\nstopping at the next report; Ctrl-C again stops at once", file=sys.stderr, flush=True)

        signal.signal(signal.SIGINT, ask)
        try:
            yield
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"stopped; go on with: {'; '.join(commands)}") from None
        finally:
            signal.signal(signal.SIGINT, before)
