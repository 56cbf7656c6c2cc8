"""Compile once per machine: JAX's persistent cache in the user's cache folder."""

import os
from pathlib import Path


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
