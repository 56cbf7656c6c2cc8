"""A process that answers messages for environments, and that can be ended whatever they do."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pickle import PicklingError
from typing import Any, NamedTuple, cast
from weakref import finalize

from gymnasium.vector.utils import CloudpickleWrapper

from diprl.errors import DiprlError
from diprl.system.processes import end_with_parent
from diprl.tasks.misdeeds import in_words

PATIENCE = 1.0
"""Seconds that a worker gets to end by itself before it is ended."""
MAKING = 20.0
"""Seconds that making an environment may take longer than a step."""
STARTING = 120.0
"""Seconds that a worker may take to begin and to import what it needs."""


class Service(NamedTuple):
    """What a worker does: an answer to each message, and an end."""

    answer: Callable[[Any], Any]
    close: Callable[[], None]


class Worker:
    """Starts afresh, never by fork, which JAX's threads do not survive; ends with this object at the latest."""

    def __init__(self, name: str, begin: Callable[..., Service], *shared: Any) -> None:
        """`begin` is called in the new process with what is shared; `name` is whom the worker's errors speak of."""
        context = get_context("spawn")
        self._name = name
        self._connection, theirs = context.Pipe()
        given = (theirs, name, CloudpickleWrapper(cast(Any, begin)), *shared)
        self._process: Any = context.Process(target=_live, args=given, daemon=True)
        try:
            with _main_module_hidden():
                self._process.start()
        except (AttributeError, TypeError, PicklingError) as error:
            raise DiprlError(f"{name} cannot be sent to worker processes: {error}") from error
        finally:
            theirs.close()
        self._closing = finalize(self, _end, self._connection, self._process)

    def wait(self, timeout: float | None) -> None:
        self.receive(STARTING, " took more than {:g} seconds to be imported")
        self.receive(timeout, " took more than {:g} seconds to be made")

    @property
    def alive(self) -> bool:
        return self._closing.alive

    def send(self, message: Any) -> None:
        with suppress(OSError):  # a dead worker is noticed when its answer is missing
            self._connection.send(message)

    def receive(self, timeout: float | None, late: str, died: str = ": the process with its environment died") -> Any:
        """The worker's next answer; `late` and `died` are the complaints where there is none."""
        try:
            if timeout is not None and not self._connection.poll(timeout):
                raise DiprlError(f"{self._name}{late.format(timeout)}")
            answer = self._connection.recv()
        except (EOFError, OSError) as error:
            raise DiprlError(f"{self._name}{died}") from error
        if isinstance(answer, DiprlError):
            raise answer
        return answer

    def close(self, patience: float = PATIENCE) -> None:
        """End the worker, at once if it does not end by itself within so many seconds."""
        if self._closing.detach():
            _end(self._connection, self._process, patience)


def _live(connection: Connection, name: str, packed: Any, *shared: Any) -> None:
    """A worker's life: say that it is there, begin, say that it is ready, then answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    os.dup2(2, 1)  # what an environment prints must not get between what the command itself prints
    service = None
    try:
        connection.send(None)
        service = packed.fn(*shared)
        connection.send(None)
        while True:
            connection.send(service.answer(connection.recv()))
    except DiprlError as error:
        connection.send(type(error)(str(error)))
    except (EOFError, OSError):
        pass
    except BaseException as error:
        connection.send(DiprlError(f"{name} failed: {in_words(error)}"))
    finally:
        if service is not None:
            service.close()


def _end(connection: Connection, process: Any, patience: float = PATIENCE) -> None:
    """Closes the pipe, which ends an idle worker, and ends one that does not listen."""
    with suppress(OSError):
        connection.close()
    process.join(patience)
    if process.is_alive():
        process.kill()
        process.join()
    process.close()


@contextmanager
def _main_module_hidden() -> Iterator[None]:
    """Keeps workers from running the user's script again, so that a script needs no `__main__` guard."""
    main = sys.modules["__main__"]
    hidden = {key: main.__dict__[key] for key in ("__file__", "__spec__") if key in main.__dict__}
    main.__dict__.update(dict.fromkeys(hidden))
    try:
        yield
    finally:
        main.__dict__.update(hidden)
