"""Compares every export of given programs with the interpreter, over as many observations as asked for.

    python benchmarks/parity.py cartpole.json lander.txt --random 1000000 --near 100000

Prints one row per program and check; exits with status 1 when anything disagrees.
"""

import argparse
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from diprl.errors import DiprlError
from diprl.export import TARGETS, Check, Written, draw, write_files
from diprl.program import Program, parse

CHUNK = 100_000
EXAMPLE = """
task: CartPole-v1
features: cart_position, cart_velocity, pole_angle, pole_angular_velocity
actions: left, right

if 3*pole_angle + pole_angular_velocity > 0.01:
    right
elif 0.1*cart_position + 0.3*cart_velocity + pole_angle > 0.2:
    right
else:
    left
"""


def main() -> None:
    arguments = _arguments()
    programs = [Program.load(path) for path in arguments.programs] or [parse(EXAMPLE)]
    failed = False
    print(f"{'program':24} {'target':8} {'check':24} {'observations':>13} {'disagreements':>14}  note")
    for program in programs:
        for target in TARGETS:
            for check in _checks(program, target, arguments.random, arguments.near):
                failed |= check.disagreements > 0
                print(_row(program, target, check), flush=True)
    sys.exit(failed)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", type=Path, help="program files; a small example when left out")
    parser.add_argument("--random", type=int, default=1_000_000, help="random observations")
    parser.add_argument("--near", type=int, default=100_000, help="observations on and next to thresholds")
    return parser.parse_args()


def _checks(program: Program, target: str, random: int, near: int) -> list[Check]:
    """One target's checks, added up over chunks that fit into memory."""
    module = import_module(f"diprl.export.{target}")
    with TemporaryDirectory() as folder:
        try:
            files = write_files(module.render(program), folder)
        except DiprlError as error:
            return [Check("export", note=str(error))]
        totals: dict[str, Check] = {}
        for chunk in _chunks(program, random, near):
            for check in module.check(Written(program, files, chunk)):
                before = totals.get(check.name, Check(check.name))
                observations = before.observations + check.observations
                disagreements = before.disagreements + check.disagreements
                totals[check.name] = Check(check.name, observations, disagreements, check.note)
            if not any(check.observations for check in totals.values()):
                break
    return list(totals.values())


def _chunks(program: Program, random: int, near: int) -> Iterator[Any]:
    """Samples with different seeds until the counts are reached."""
    for seed in range(-(-max(random, near) // CHUNK)):
        start = seed * CHUNK
        yield draw(program, max(0, min(CHUNK, random - start)), max(0, min(CHUNK, near - start)), seed)


def _row(program: Program, target: str, check: Check) -> str:
    name = (program.task or "program")[:24]
    counts = f"{check.observations:>13,} {check.disagreements:>14,}"
    return f"{name:24} {target:8} {check.name:24} {counts}  {check.note}"


if __name__ == "__main__":
    main()
