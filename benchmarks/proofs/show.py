"""Makes the tables of docs/verify.md: what is proved about learnt programs, in which time, and how it is checked.

python benchmarks/proofs/show.py [NAME …]      # cartpole, mountain_car, pendulum, tora, …
"""

import json
import resource
import sys
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from diprl.program import Program
from diprl.system.processes import available_cores
from diprl.verify import Spec, load_spec, parse_spec, verify
from diprl.verify.checker import problem_of

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOWN = {
    "proofs": ("cartpole", "mountain_car", "pendulum"),
    "arch": ("tora", "single_pendulum", "cruise_control", "unicycle"),
}
CAUGHT = """
timeout: 60
properties:
  - {{name: box, kind: always, start: {{angle: [-{angle}, {angle}], velocity: [-{speed}, {speed}]}},
     hold: [angle <= 0.2, angle >= -0.2]}}
"""


def busy() -> float:
    """Seconds of processors used so far, by this process and by those it started."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def show(name: str, program: Program, spec: Spec) -> str:
    """Prove and print a row; gives the verdict."""
    with TemporaryDirectory() as folder:
        wall, work = time.perf_counter(), busy()
        answer = verify(program, replace(spec, timeout=300.0), certificates=folder, processes=available_cores())
        wall, work = time.perf_counter() - wall, busy() - work
        answer = answer.findings[0].answer
        row = f"| {name} | {answer.told.strip()} | {answer.summary} | {wall:.1f} ({work:.1f}) |"
        for path in Path(folder).glob("*.json"):
            certificate, begin = json.loads(path.read_text()), time.process_time()
            verdict = problem_of(certificate) or "accepted"
            used = time.process_time() - begin
            size = path.stat().st_size / 1e6
            row += f" {len(certificate['nodes']['time'])} sets, {size:.1f} MB, {verdict} in {used:.2f} s |"
    print(row, flush=True)
    return answer.verdict


def largest_box(program: Program) -> None:
    """The largest box, in units of 0.2 rad and 0.2·√15 rad/s, from which 0.2 rad are never left."""
    low, high = 0.0, 1.0
    for _ in range(7):
        middle = (low + high) / 2.0
        spec = parse_spec(CAUGHT.format(angle=0.2 * middle, speed=0.2 * 15**0.5 * middle), program)
        proved = show(f"pendulum, box × {middle:.4f}", program, spec) == "proved"
        low, high = (middle, high) if proved else (low, middle)
    print(f"largest box: ±{0.2 * low:.4f} rad and ±{0.2 * 15**0.5 * low:.4f} rad/s")


def main() -> None:
    print("| plant | verdict | claim | seconds (of processors) | certificate |\n| --- | --- | --- | --- | --- |")
    for folder, names in SHOWN.items():
        for name in names:
            if not sys.argv[1:] or name in sys.argv[1:]:
                program = Program.load(EXAMPLES / folder / f"{name}.txt")
                show(name, program, load_spec(EXAMPLES / folder / f"{name}.spec.yaml", program))
                if name == "pendulum":
                    largest_box(program)


if __name__ == "__main__":
    main()
