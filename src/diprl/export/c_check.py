"""Compiles exported C and runs it over whole batches, with the loop in C as well."""

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.export import structure
from diprl.export.c_types import DOUBLE, FIXED, SINGLE, Real, number_types
from diprl.export.fixed import fixed_point
from diprl.export.parity import Check, Samples, Written, compare, compare_networks
from diprl.program import Discrete, Program

FLAGS = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-pedantic")
BUILT = "library.so"


def compiler() -> str | None:
    """The C compiler that $CC names, or the first of cc, gcc and clang."""
    names = (os.environ.get("CC", ""), "cc", "gcc", "clang")
    return next((found for name in names if (found := shutil.which(name))), None)


def check(written: Written) -> list[Check]:
    """Compile the written sources and compare each precision with the interpreter in the same precision."""
    if compiler() is None:
        return [Check("double", note="no C compiler"), Check("float", note="no C compiler")]
    program, samples, networks = written.program, written.samples, written.networks
    library = Library([path for path in written.files if path.suffix == ".c"])
    name = "play" if samples.primitive_actions is None else "blend"
    reals = number_types(program, networks)
    found = {real: library.run(program, samples, name, real) for real in reals}
    checks = [compare(real.name, written, actions, single=real is SINGLE) for real, actions in found.items()]
    if SINGLE not in reals:
        checks.append(Check("float", note="not emitted, some number does not fit into 32 bits"))
    for real in reals if networks else []:
        played = library.run(program, samples, "play", real)
        checks.append(compare_networks(f"{real.name} with networks", written, played, single=real is SINGLE))
    emitted = any(path.name.endswith("_fixed.c") for path in written.files)
    return [*checks, _check_fixed(library, written)] if emitted else checks


def _check_fixed(library: "Library", written: Written) -> Check:
    """Compare whole numbers with the interpreter where the margins say that both decide alike."""
    program, features = written.program, written.samples.features
    fixed = fixed_point(program, written.guard)
    low, high = np.array(written.guard.watched(program, fixed=True)["OUT_OF_BOUNDS"]).T
    usable = features[((features >= low) & (features <= high)).all(axis=1)]
    far = usable[fixed.outside(program, usable)]
    whole: Any = fixed.inputs(far)
    found = library.run(program, Samples(whole, None, None, ""), "play", FIXED)
    within = f"{len(usable) - len(far)} more lie within the margins"
    return Check("fixed point", len(far), int((found != program.act_batch(far)).sum()), within)


def build(folder: Path, arguments: Sequence[str | Path], flags: Sequence[str] = FLAGS) -> None:
    """Compile sources to a shared library in a folder; the same sources give the same bytes."""
    command = [compiler() or "cc", *flags, "-shared", "-fPIC", "-o", BUILT, *arguments, "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise DiprlError(f"the exported C does not compile: {done.stderr.strip()[:2000]}")


class Library:
    """Exported sources as one shared library; each program's prefix must differ."""

    def __init__(self, sources: Iterable[Path], flags: Sequence[str] = FLAGS) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "loops.c").write_text(structure.fixed_text("loops.c"))
            build(Path(folder), ["loops.c", *(path.resolve() for path in sources)], flags)
            self.functions = ctypes.CDLL(str(Path(folder) / BUILT))

    def run(self, program: Program, samples: Samples, function: str = "play", real: Real = DOUBLE) -> NDArray[Any]:
        kind = real.kind
        extra = samples.senses if function == "play" else samples.primitive_actions
        with np.errstate(all="ignore"):
            inputs = [np.ascontiguousarray(each, kind) for each in (samples.features, extra) if each is not None]
        actions = program.signature.actions
        if isinstance(actions, Discrete):
            loop = "each_vector" if function == "control" else "each_index"
            found = np.empty(len(samples), np.intc)
        else:
            loop = "each_blend" if len(inputs) == 2 else "each_vector"
            found = np.empty((len(samples), len(actions.low)), kind)
        places: list[Any] = []
        for array in (*inputs, found):
            places += [ctypes.c_void_p(array.ctypes.data), ctypes.c_long(array.strides[0])]
        act = getattr(self.functions, f"{structure.prefix(program)}_{function}{real.suffix}")
        getattr(self.functions, loop)(ctypes.c_long(len(samples)), act, *places)
        return found
