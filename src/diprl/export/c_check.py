"""Compiles exported C and runs it over whole batches, with the loop in C as well."""

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.export import structure
from diprl.export.networks import Network, run_all
from diprl.export.parity import act_single, compare, compare_networks, differing
from diprl.export.report import Check
from diprl.export.samples import Samples
from diprl.program import Continuous, Discrete, Program

SINGLE_TOLERANCE = 1e-3
FLAGS = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic")


def compiler() -> str | None:
    """The C compiler that $CC names, or the first of cc, gcc and clang."""
    return next(
        (found for name in (os.environ.get("CC", ""), "cc", "gcc", "clang") if (found := shutil.which(name))),
        None,
    )


def check(
    program: Program, files: Sequence[Path], samples: Samples, networks: Sequence[Network], *, single: bool
) -> list[Check]:
    """Compare both precisions with the interpreter in the same precision."""
    if compiler() is None:
        return [Check("double", note="no C compiler"), Check("float", note="no C compiler")]
    library = Library([(program, files[1], networks)])
    name = "play" if samples.primitive_actions is None else "blend"
    checks = [compare("double", program, samples, library.run(program, samples, name))]
    if single:
        found = library.run(program, samples, name, np.float32)
        checks.append(
            Check("float", len(samples), differing(found, act_single(program, samples)), "in 32 bits")
        )
    else:
        checks.append(Check("float", note="not emitted, some number does not fit into 32 bits"))
    if networks:
        found = library.run(program, samples, "play")
        checks.append(compare_networks("double with networks", program, samples, networks, found=found))
    if networks and single:
        checks.append(_check_single_networks(program, library, samples, networks))
    return checks


def _check_single_networks(
    program: Program, library: "Library", samples: Samples, networks: Sequence[Network]
) -> Check:
    """Networks in 32 bits only come near to those in 64; decisions and blends follow 32-bit arithmetic."""
    assert samples.senses is not None  # drawn for these networks
    expected = act_single(program, replace(samples, primitive_actions=run_all(networks, samples.senses)))
    found = library.run(program, samples, "play", np.float32)
    far = ~np.isclose(found, expected, rtol=SINGLE_TOLERANCE, atol=SINGLE_TOLERANCE, equal_nan=True)
    note = f"to within {SINGLE_TOLERANCE:g}"
    return Check("float with networks", len(samples), int(far.any(axis=1).sum()), note)


class Library:
    """Exported sources as one shared library; each program's prefix must differ."""

    def __init__(
        self, parts: Iterable[tuple[Program, Path, Sequence[Network]]], flags: Sequence[str] = FLAGS
    ) -> None:
        parts = list(parts)
        with tempfile.TemporaryDirectory() as folder:
            harness, library = Path(folder) / "harness.c", Path(folder) / "library.so"
            harness.write_text("".join(_harness(*part) for part in parts))
            command = [compiler() or "cc", *flags, "-shared", "-fPIC", "-o", str(library), str(harness)]
            done = subprocess.run(
                [*command, *(str(path) for _, path, _ in parts), "-lm"],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise DiprlError(f"the exported C does not compile: {done.stderr.strip()[:2000]}")
            self._library = ctypes.CDLL(str(library))

    def run(
        self, program: Program, samples: Samples, function: str = "play", kind: type = np.float64
    ) -> NDArray[Any]:
        """The actions for a batch, computed by the exported function."""
        with np.errstate(all="ignore"):
            features = np.ascontiguousarray(samples.features, kind)
            extra = samples.senses if function == "play" else samples.primitive_actions
            inputs = [features] if extra is None else [features, np.ascontiguousarray(extra, kind)]
        actions = program.signature.actions
        out = np.empty(len(features), np.intc)
        if not isinstance(actions, Discrete):
            out = np.empty((len(features), len(actions.low)), kind)
        many = getattr(self._library, f"{structure.prefix(program)}_{function}{_suffix(kind)}_many")
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*inputs, out)]
        many(ctypes.c_long(len(features)), *pointers)
        return out

    def status(self, program: Program, features: NDArray[Any]) -> list[int]:
        """The flags of each observation, in double precision."""
        function = getattr(self._library, f"{structure.prefix(program)}_status")
        rows = [np.ascontiguousarray(row, np.float64) for row in features]
        return [function(ctypes.c_void_p(row.ctypes.data)) for row in rows]


def _suffix(kind: type) -> str:
    return "_float" if kind is np.float32 else ""


def _harness(program: Program, path: Path, networks: Sequence[Network]) -> str:
    """Loops over arrays around every function of one header."""
    from diprl.export.c import fits_single

    functions = ["play"] if not _blends(program) else ["blend", *(["play"] if networks else [])]
    kinds = ["double", "float"] if fits_single(program, networks) else ["double"]
    loops = [_loop(program, function, kind, networks) for function in functions for kind in kinds]
    return f'#include "{path.with_suffix(".h").resolve()}"\n' + "".join(loops)


def _blends(program: Program) -> bool:
    return not isinstance(program.signature.actions, Discrete | Continuous)


def _loop(program: Program, function: str, kind: str, networks: Sequence[Network]) -> str:
    actions, called = program.signature.actions, f"{structure.prefix(program)}_{function}"
    called += "_float" if kind == "float" else ""
    features, out = f"features + i * {len(program.signature.features)}L", "out"
    if isinstance(actions, Discrete):
        head, call = f"const {kind} *features, int *out", f"out[i] = {called}({features})"
    else:
        out = f"out + i * {len(actions.low)}L"
        width = (
            len(networks[0].mean)
            if function == "play" and networks
            else len(actions.names) * len(actions.low)
        )
        extra = f", extra + i * {width}L" if _blends(program) else ""
        head = f"const {kind} *features, {f'const {kind} *extra, ' if extra else ''}{kind} *out"
        call = f"{called}({features}{extra}, {out})"
    prototype = f"void {called}_many(long count, {head})"
    return f"{prototype};\n{prototype}\n{{\n    long i;\n    for (i = 0; i < count; i++) {{ {call}; }}\n}}\n"
