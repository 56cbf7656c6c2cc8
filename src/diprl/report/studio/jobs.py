"""Work that takes a while: it runs in a thread of its own, tells how far it is, and can be stopped."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Thread
from time import monotonic
from typing import Any

from diprl.errors import DiprlError

TICK = 0.25
"""Seconds from one message about progress to the next."""


class Stopped(Exception):
    """The person at the page has seen enough."""


@dataclass
class Job:
    """One piece of work; `work` gets the job, calls `check` now and then, and returns what the page is to know."""

    kind: str
    work: Callable[["Job"], dict[str, Any]]
    seconds: float | None = None
    """How long it will take, where that is known."""
    words: str = ""
    """What it does at the moment."""
    began: float = field(default_factory=monotonic)
    answer: dict[str, Any] | None = None
    _stop: Event = field(default_factory=Event)
    _ended: Event = field(default_factory=Event)

    def start(self) -> "Job":
        Thread(target=self._run, daemon=True).start()
        return self

    @property
    def running(self) -> bool:
        return not self._ended.is_set()

    def stop(self) -> None:
        self._stop.set()

    def check(self) -> None:
        """End the work if it was stopped."""
        if self._stop.is_set():
            raise Stopped

    def told(self) -> dict[str, Any]:
        """What came out, or after a moment how far it is."""
        if self._ended.wait(TICK):
            return {"done": True} | (self.answer or {})
        elapsed = monotonic() - self.began
        share = min(elapsed / self.seconds, 1.0) if self.seconds else None
        return {"share": share, "words": self.words, "elapsed": round(elapsed, 1)}

    def _run(self) -> None:
        try:
            self.answer = self.work(self)
        except Stopped:
            self.answer = {"words": "stopped; nothing was changed"}
        except DiprlError as error:
            self.answer = {"error": str(error)}
        except Exception as error:  # what fails here must reach the page, not only the terminal
            self.answer = {"error": f"{self.kind} failed: {type(error).__name__}: {error}"}
        finally:
            self._ended.set()
