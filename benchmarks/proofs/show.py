"""Makes the tables of docs/proofs.md: what is proved about learnt programs, in which time, and how it is checked.

python benchmarks/proofs/show.py [--only NAME]
"""

import argparse
import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from diprl.program import Program
from diprl.verify import Report, load_spec, parse_spec, verify
from diprl.verify.checker import problem_of

ROOT = Path(__file__).parents[2]
CARTPOLE = """
task: CartPole-v1
timeout: 300
properties:
  - {name: CartPole-v1, kind: always, steps: 500, hold: [cart_position <= 2.4, cart_position >= -2.4,
     pole_angle <= 0.2094, pole_angle >= -0.2094]}
"""
MOUNTAIN_CAR = """
task: MountainCar-v0
timeout: 300
properties:
  - {name: MountainCar-v0, kind: reaches, steps: 106, goal: position >= 0.5}
"""
PENDULUM = """
task: Pendulum-v1
timeout: 60
properties:
  - {{name: Pendulum-v1, kind: always, start: {{angle: [-{angle}, {angle}], velocity: [-{speed}, {speed}]}},
     hold: [angle <= 0.2, angle >= -0.2]}}
"""


def pendulum() -> Program:
    record = json.loads((ROOT / "results/other-tasks/Pendulum-v1-seed456.json").read_text())
    return Program.from_text(record["program"])


def show(name: str, program: Program, spec_text: str | None, spec_path: Path | None = None) -> Report:
    with TemporaryDirectory() as folder:
        wall, work = time.perf_counter(), time.process_time()
        spec = load_spec(spec_path, program) if spec_path else parse_spec(spec_text or "", program)
        report = verify(program, spec, certificates=folder)
        wall, work = time.perf_counter() - wall, time.process_time() - work
        answer = report.findings[0].answer
        line = f"| {name} | {answer.told.strip()} | {answer.summary} | {work:.1f} ({wall:.1f}) |"
        for path in Path(folder).glob("*.json"):
            begin, busy = time.perf_counter(), time.process_time()
            problem = problem_of(json.loads(path.read_text()))
            busy = time.process_time() - busy
            sets = answer.details[0].rpartition(", ")[2]
            size = path.stat().st_size / 1e6
            line += (
                f" {sets}, {size:.2f} MB, {problem or 'accepted'} in {busy:.2f} ({time.perf_counter() - begin:.2f}) |"
            )
    print(line, flush=True)
    return report


def largest_pendulum_box() -> None:
    """The largest square box, in units of 0.2 rad and 0.2·√15 rad/s, that is never left by more than 0.2 rad."""
    low, high = 0.0, 1.0
    for _ in range(7):
        middle = (low + high) / 2.0
        text = PENDULUM.format(angle=0.2 * middle, speed=0.2 * 15**0.5 * middle)
        verdict = show(f"Pendulum-v1, box × {middle:.3f}", pendulum(), text).findings[0].answer.verdict
        low, high = (middle, high) if verdict == "proved" else (low, middle)
    print(f"largest box: ±{0.2 * low:.4f} rad and ±{0.2 * 15**0.5 * low:.4f} rad/s")


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--only", default="")
    only = options.parse_args().only
    print("| plant | verdict | claim | processor (wall) seconds | certificate |\n| --- | --- | --- | --- | --- |")
    if only in ("", "cartpole"):
        show("CartPole-v1", Program.load(ROOT / "results/programs/CartPole-v1.txt"), CARTPOLE)
    if only in ("", "mountaincar"):
        car = Program.load(ROOT / "results/improved/MountainCar-v0-seed123-simplified.txt")
        show("MountainCar-v0", car, MOUNTAIN_CAR)
    for name in ("tora", "single_pendulum", "cruise_control", "unicycle"):
        if only in ("", name):
            folder = ROOT / "examples/arch"
            show(name, Program.load(folder / f"{name}.txt"), None, folder / f"{name}.spec.yaml")
    if only in ("", "pendulum"):
        show("Pendulum-v1", pendulum(), PENDULUM.format(angle=0.1, speed=0.3))
        largest_pendulum_box()


if __name__ == "__main__":
    main()
