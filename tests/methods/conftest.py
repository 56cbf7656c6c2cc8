"""Compilations of the methods' tests are kept from one run of the tests to the next."""

from collections.abc import Iterator

import jax
import pytest


@pytest.fixture(autouse=True, scope="session")
def _kept_compilations(request: pytest.FixtureRequest) -> Iterator[None]:
    cache = getattr(request.config, "cache", None)  # pytest may run without one
    folder = cache.mkdir("jax") if cache else None
    names = (
        "jax_compilation_cache_dir",
        "jax_persistent_cache_min_compile_time_secs",
        "jax_persistent_cache_min_entry_size_bytes",
    )
    before = [getattr(jax.config, name) for name in names]
    for name, value in zip(names, (folder and str(folder), 0.0, -1), strict=True):
        jax.config.update(name, value)
    yield
    for name, value in zip(names, before, strict=True):
        jax.config.update(name, value)
