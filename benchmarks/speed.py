"""All figures of speed from one run on one machine, as Markdown.

    python benchmarks/speed.py [--sb3-python PYTHON] [--rejax-python PYTHON] [--only PART …] [--write]

Parts: rivals, host, limits, program, start, seeds, shapes, inference, mujoco. With --write, docs/performance.md
gets these tables and keeps its others. Ratios are comparable between machines; seconds are not.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import against_sb3

if TYPE_CHECKING:
    from diprl.train.settings import Settings

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "performance.md"
MARKER = "<!-- measured by benchmarks/speed.py -->"
SEEDS = (1, 3, 16, 64, 512, 2048)
PROCESSOR_SEEDS = 64
"""More than this many seeds at once take minutes without a GPU."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    against_sb3.add_rivals(parser)
    parts: dict[str, Callable[[argparse.Namespace], list[str]]] = {
        "rivals": lambda options: against_sb3.table(options.sb3_python, options.rejax_python),
        "host": lambda options: against_sb3.host_table(options.sb3_python),
        "limits": limits_table,
        "program": program_table,
        "start": start_table,
        "seeds": seeds_table,
        "shapes": shapes_table,
        "inference": inference_table,
        "mujoco": mujoco_table,
    }
    parser.add_argument("--only", nargs="+", choices=parts, default=list(parts), metavar="PART")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/performance.md")
    options = parser.parse_args()
    sections = {}
    for name in options.only:
        sections[name] = "\n".join([f"### {TITLES[name]}", "", *parts[name](options), ""])
        print(sections[name], flush=True)
    if options.write:
        write(sections)


def write(sections: dict[str, str]) -> None:
    """Put tables into the page, which keeps those that were not measured again."""
    text, _, measured = PAGE.read_text("utf-8").partition(MARKER)
    kept = {part.split("\n", 1)[0]: f"### {part.rstrip()}\n" for part in measured.split("### ")[1:]}
    tables = [sections.get(name, kept.get(title, "")) for name, title in TITLES.items()]
    PAGE.write_text("\n".join([f"{text}{MARKER}\n", *filter(None, tables)]), "utf-8")


TITLES = {
    "rivals": "Steps per second, CartPole, 8 × 512 steps, minibatch 64, 10 epochs, one seed",
    "host": "Steps per second outside JAX, 8 × 512 steps, minibatch 64, 10 epochs, one seed",
    "limits": "Against the machine's matrix products",
    "program": "From the shell prompt to a scored CartPole program",
    "start": "Starting up",
    "seeds": "Many seeds in one compiled program",
    "shapes": "Depth of the program and number of features",
    "inference": "One decision of a program",
    "mujoco": "Batched MuJoCo against AsyncVectorEnv",
}


def limits_table(options: argparse.Namespace) -> list[str]:
    from limits import limits

    return limits({method: against_sb3.our_speed(method) for method in ("ppo", "diprl")})


def seconds_of(command: list[str], **environment: str) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=os.environ | environment)
    return time.perf_counter() - began


def program_table(options: argparse.Namespace) -> list[str]:
    """Twice the same training, first with an empty cache of compilations."""
    rows = ["| Compilations | Seconds |", "|---|---:|"]
    with TemporaryDirectory() as folder:
        for title in ("none cached", "cached"):
            command = [sys.executable, "-m", "diprl", "train", "CartPole-v1", "--out", f"{folder}/{title}"]
            rows.append(f"| {title} | {seconds_of(command, DIPRL_CACHE=folder):.1f} |")
    return rows


COMPILING = """
import time
import jax.random as jr
import numpy as np
from diprl.methods.presets import settings_for
from diprl.methods.registry import find_method
from diprl.runs.trainer import engine_for, first_state, fresh_agent
from diprl.tasks.registry import load_task
from diprl.system.device import use_compilation_cache
use_compilation_cache()
task, make_agent = load_task("CartPole-v1"), find_method("diprl").make_agent
settings = settings_for("diprl", "default", task)
engine = engine_for(task, settings.compiled(), make_agent)
state = first_state(engine, fresh_agent(make_agent, task, settings.compiled(), jr.key(0)), jr.key(1))
began = time.perf_counter()
lowered = engine.compiled_iteration.lower(state, settings.numbers(), np.float32(100))
traced = time.perf_counter()
lowered.compile()
print(traced - began, time.perf_counter() - traced)
"""


def start_table(options: argparse.Namespace) -> list[str]:
    """The smallest times; one training iteration of CartPole is compiled without and with a cache."""
    commands = {"`import diprl`": ["-c", "import diprl"], "`diprl --help`": ["-m", "diprl", "--help"]}
    times = {name: min(seconds_of([sys.executable, *c]) for _ in range(5)) for name, c in commands.items()}
    trials = [compiling_times() for _ in range(3)]
    times |= {name: min(trial[name] for trial in trials) for name in trials[0]}
    return ["| | Seconds |", "|---|---:|", *(f"| {name} | {value:.2f} |" for name, value in times.items())]


def compiling_times() -> dict[str, float]:
    times = {}
    with TemporaryDirectory() as folder:
        for title in ("none cached", "cached"):
            script = [sys.executable, "-c", COMPILING]
            done = subprocess.run(script, check=True, capture_output=True, env=os.environ | {"DIPRL_CACHE": folder})
            tracing, compiling = map(float, done.stdout.split())
            times |= {f"tracing CartPole's iteration ({title})": tracing, f"compiling it ({title})": compiling}
    return times


def seeds_table(options: argparse.Namespace) -> list[str]:
    """DiPRL with the paper's settings, as many seeds as the device takes in reasonable time."""
    import jax

    most = PROCESSOR_SEEDS if jax.default_backend() == "cpu" else SEEDS[-1]
    rows = [f"| Seeds ({jax.devices()[0].device_kind}) | Steps/s | × one seed |", "|---:|---:|---:|"]
    first = 0.0
    for count in [count for count in SEEDS if count <= most]:
        speed = seeds_speed(count)
        first = first or speed
        rows.append(f"| {count} | {speed:,.0f} | {speed / first:.1f} |")
    return rows


def paper_settings() -> "Settings":
    from diprl.methods.presets import preset_settings

    return preset_settings("diprl", "paper", "CartPole-v1", 2_000_000)


def seeds_speed(count: int, rollouts: int = 5) -> float:
    import jax
    import jax.random as jr
    import numpy as np

    from diprl.methods.registry import find_method
    from diprl.tasks.twins.table import TWIN_TASKS
    from diprl.train.compiling import compiled
    from diprl.train.engine import Engine

    task, make_agent, settings = TWIN_TASKS["CartPole-v1"], find_method("diprl").make_agent, paper_settings()
    engine = Engine(task, settings, make_agent(task, settings, key=jr.key(0)))
    begin = jax.vmap(lambda key: engine.begin(make_agent(task, settings, key=key), key=key))
    state = jax.jit(begin)(jr.split(jr.key(0), count))
    advance = compiled(jax.vmap(engine.iteration, in_axes=(0, None, None)), donate_argnums=0)
    best = 0.0
    for _ in range(rollouts + 1):
        began = time.perf_counter()
        state, _ = jax.block_until_ready(advance(state, settings.numbers(), np.float32(500)))
        best = max(best, count * settings.ppo.rollout_size / (time.perf_counter() - began))
    return best


def shapes_table(options: argparse.Namespace) -> list[str]:
    """The same number of steps with deeper programs, and on tasks with more features."""
    from diprl.tasks.registry import load_task

    settings = paper_settings()
    steps = 10 * settings.ppo.rollout_size
    base = against_sb3.our_speed("diprl", steps)
    rows = ["| Task | Features | Depth | Relative speed |", "|---|---:|---:|---:|"]
    for name, depth in [("CartPole-v1", d) for d in (2, 6, 12, 24)] + [("Acrobot-v1", 6), ("DoorKey-5x5", 6)]:
        speed = against_sb3.our_speed("diprl", steps, name, settings.with_values(max_depth=depth))
        rows.append(f"| {name} | {load_task(name).layout.features} | {depth} | {speed / base:.2f} |")
    return rows


def inference_table(options: argparse.Namespace) -> list[str]:
    from diprl.program import parse
    from inference import measure
    from parity import EXAMPLE

    figures = measure(parse(EXAMPLE))
    fastest = min(figures.values())
    rows = ["| | ns per decision | × the fastest |", "|---|---:|---:|"]
    return rows + [f"| {name} | {value:.1f} | {value / fastest:.1f} |" for name, value in figures.items()]


def mujoco_table(options: argparse.Namespace) -> list[str]:
    import mujoco_backend as backend

    rows = ["| Environment | Batched/s | AsyncVectorEnv/s | Ratio |", "|---|---:|---:|---:|"]
    for description in backend.DESCRIPTIONS.values():
        own = backend.backend_speed(description, 2.0)
        other = max(backend.async_speed(description, count, 2.0) for count in backend.PROCESSES)
        rows.append(f"| {description.name} | {own:,.0f} | {other:,.0f} | {own / other:.2f} |")
    return rows


if __name__ == "__main__":
    main()
