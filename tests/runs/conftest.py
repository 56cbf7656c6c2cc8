"""Probes by name, for everything that trains."""

from collections.abc import Iterator

import pytest

from tests.small import registered_probes


@pytest.fixture(autouse=True, scope="package")
def probes_by_name() -> Iterator[None]:
    with registered_probes():
        yield
