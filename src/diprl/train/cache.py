"""Compile quickly and once per machine: options of the compiler, and JAX's cache in the user's cache folder."""

import os
from pathlib import Path
from typing import Any


def cache_folder() -> Path:
    """Where compiled code is kept; DIPRL_CACHE moves it."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(os.environ.get("DIPRL_CACHE") or Path(base) / "diprl") / "jax"


def use_compilation_cache() -> None:
    """Keep every compilation, however small; a folder that cannot be written only costs speed."""
    import jax

    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def cpu_options() -> dict[str, Any] | None:
    """What suits programs of many tiny kernels on a processor; other devices keep their defaults.

    Matrices this small lose more by being shared among threads than they gain, and the costlier optimisations double
    the time to compile without making the code faster.
    """
    import jax

    if jax.default_backend() != "cpu":
        return None
    return {"xla_cpu_multi_thread_eigen": False, "xla_backend_optimization_level": 1}
