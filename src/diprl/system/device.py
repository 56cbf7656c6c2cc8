"""Which processor trains, where the code compiled for it is kept, and how MuJoCo draws where there is no screen."""

import os
import sys
from ctypes.util import find_library
from functools import cache
from pathlib import Path

from diprl.errors import DiprlError, check_known
from diprl.system.files import cache_folder

DEVICES = ("auto", "cpu", "gpu", "gpu-only")
MAPS, MOST_MAPS = Path("/proc/self/maps"), Path("/proc/sys/vm/max_map_count")
"""The memory maps of this process, and how many Linux allows."""


def use_device(name: str) -> None:
    """Choose the processor before anything is compiled.

    `auto` takes what JAX finds, `gpu` falls back to the processor with a warning, `gpu-only` refuses to.
    """
    check_known("device", DEVICES, name)
    import jax

    if name == "cpu":
        jax.config.update("jax_platforms", "cpu")
    found = platforms()
    if name.startswith("gpu") and "gpu" not in found:
        lacking = "no GPU that JAX can use was found (a driver, or jax[cuda12], may be missing)"
        if name == "gpu-only":
            raise DiprlError(f"{lacking}: leave out --device gpu-only to train on the CPU")
        print(f"diprl: warning: {lacking}; training on the CPU", file=sys.stderr, flush=True)


def platforms() -> set[str]:
    """The kinds of processor that JAX can use, in its own words; those that JAX_PLATFORMS insists on must be there."""
    import jax

    try:
        return {device.platform for device in jax.devices()}
    except (RuntimeError, AssertionError) as error:  # which of them depends on what is installed
        wanted = os.environ.get("JAX_PLATFORMS", "")
        raise DiprlError(f"JAX finds no processor to run on: check JAX_PLATFORMS, which is '{wanted}'") from error


def device_name() -> str:
    """The processor in use, as records name it."""
    import jax

    device = jax.devices()[0]
    return f"{device.platform} ({device.device_kind})"


def memory() -> float:
    """Bytes that the processor in use may fill."""
    import jax

    told = jax.devices()[0].memory_stats() or {}
    return float(told.get("bytes_limit", 0)) or float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def use_compilation_cache() -> None:
    """Keep every compilation, however small; a folder that cannot be written only costs speed. DIPRL_CACHE moves it."""
    import jax

    folder = cache_folder("jax")
    if folder is None:
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def make_room_for_code() -> None:
    """Forget compiled functions once half of the memory maps that a process may have are taken.

    Each function takes a few, a training about a thousand. At the limit the compiler would end the process.
    """
    import jax

    try:
        taken, most = MAPS.read_bytes().count(b"\n"), int(MOST_MAPS.read_text())
    except OSError:  # no Linux, no such limit
        return
    if taken > most / 2:
        jax.clear_caches()


def has_screen() -> bool:
    """Whether a window can be opened here."""
    if not sys.platform.startswith("linux"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def draw_without_screen() -> None:
    """Have MuJoCo draw off-screen where there is no screen; it looks for this once, when it is first imported."""
    if not has_screen() and "MUJOCO_GL" not in os.environ and can_draw_off_screen():
        os.environ["MUJOCO_GL"] = "egl"


@cache
def can_draw_off_screen() -> bool:
    """Whether the library for it is here: told to use one that is missing, MuJoCo cannot even be imported."""
    return find_library("EGL") is not None
