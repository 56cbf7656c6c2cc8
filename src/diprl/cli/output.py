"""Standard output with `--json`: the document and nothing else, whatever an environment prints."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

DOCUMENTS: list[str] = []
"""What waits to be printed when the command ends."""


@contextmanager
def kept_for_json() -> Iterator[None]:
    """Send everything that is printed to standard error, by compiled code and worker processes too.

    The document follows on standard output at the end.
    """
    DOCUMENTS.clear()
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        print(*DOCUMENTS, sep="\n", end="\n" if DOCUMENTS else "")


def document(content: Any) -> None:
    """Keep a document for the end; what JSON cannot say, such as a path, becomes text."""
    DOCUMENTS[:] = [json.dumps(content, default=str)]
