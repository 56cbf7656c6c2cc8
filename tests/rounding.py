"""What pages show was printed with OpenBLAS's kernels for AVX-512; those for other processors round differently."""

import os
from pathlib import Path

CPU = Path("/proc/cpuinfo")
SAME = CPU.is_file() and "avx512f" in CPU.read_text(encoding="utf-8")
"""Whether this processor has these kernels; without them, the same seed gives another program."""
ELSEWHERE = "this processor rounds otherwise than the one that the pages were made on"


def choose_kernels() -> None:
    """For NumPy, if it is not imported yet, and for processes that tests start; whatever the environment says."""
    if SAME:
        os.environ["OPENBLAS_CORETYPE"] = "SkylakeX"
