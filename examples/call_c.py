"""Export a program to C, compile it, and call it from Python through ctypes."""

import ctypes
import subprocess
from pathlib import Path

import numpy as np

from diprl import Program

program = Program.load(Path(__file__).parent / "cartpole.txt")
report = program.export("c", "export")
print(report)

source = next(path for path in report.files if path.suffix == ".c")
library = Path("export/policy.so").resolve()
subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
play = getattr(ctypes.CDLL(str(library)), f"{source.stem}_play")
play.argtypes = [np.ctypeslib.ndpointer(np.float64)]

states = np.random.default_rng(0).normal(size=(1000, 4))
in_c = [play(state) for state in states]
assert in_c == program.act_batch(states).tolist()
print("C and Python agree on 1,000 states")
