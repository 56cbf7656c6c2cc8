"""Compile what training runs, with the options that suit long loops of small kernels."""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax

OPTIONS: dict[str, dict[str, Any]] = {
    "cpu": {
        "xla_cpu_copy_insertion_use_region_analysis": True,  # a loop updates in place, without copies
        "xla_cpu_enable_concurrency_optimized_scheduler": False,  # one kernel after another: each is short
    },
    "gpu": {
        "xla_gpu_dot_merger_threshold_mb": 0,  # merged products need their inputs copied side by side
        "xla_gpu_enable_while_loop_double_buffering": True,
    },
}


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """`jax.jit` for functions that are called from Python and not from other compiled functions."""
    return jax.jit(function, compiler_options=compiler_options(), **options)


@cache
def compiler_options() -> dict[str, Any]:
    """Our options for this processor, where its compiler knows them; they only change speed."""
    options = OPTIONS.get(jax.default_backend(), {})
    try:
        jax.jit(lambda: 0).lower().compile(compiler_options=options)
    except jax.errors.JaxRuntimeError:  # another version's compiler may lack one of them
        return {}
    return options
