"""Probes by name, for everything that trains."""

from collections.abc import Iterator

import pytest
from tests.small import register_probes

from diprl.tasks.registry import TASKS


@pytest.fixture(autouse=True, scope="package")
def probes_by_name() -> Iterator[None]:
    before = dict(TASKS)
    register_probes(TASKS)
    yield
    TASKS.clear()
    TASKS.update(before)
