"""Guards against training that slows down unnoticed: they count kernels and traces, never seconds."""

import os
import re
import subprocess
import sys
from pathlib import Path

import jax
import jax.random as jr
import numpy as np
import pytest

from diprl.methods.presets import preset_settings
from diprl.methods.registry import find_method
from diprl.runs.trainer import first_state
from diprl.tasks.registry import load_task
from diprl.train.compiling import compiler_options
from diprl.train.engine import Engine

PAPER = preset_settings("diprl", "paper", "CartPole-v1", 2_000_000)
FREE = {"parameter", "get-tuple-element", "tuple", "constant", "bitcast"}
"""Instructions that cost nothing when a compiled program runs."""
COMPUTATION = re.compile(r"^(?:ENTRY )?%?(?P<name>[\w.\-]+) .*\{$")
INSTRUCTION = re.compile(r"^  (?:ROOT )?%?[\w.\-]+ = .*? (?P<kind>[a-z\-]+)\(")


def engine_of(method: str) -> Engine:
    task = load_task("CartPole-v1")
    return Engine(task, PAPER, find_method(method).make_agent(task, PAPER, key=jr.key(0)))


def kernels(text: str) -> dict[str, int]:
    """How many kernels each computation of a compiled program starts, those inside fusions left out."""
    counts, name = {}, ""
    for line in text.splitlines():
        if opened := COMPUTATION.match(line):
            name = opened["name"]
            counts[name] = 0
        elif (instruction := INSTRUCTION.match(line)) and instruction["kind"] not in FREE:
            counts[name] += 1
    return {name: count for name, count in counts.items() if "fused" not in name}


def compiled_text(method: str) -> str:
    engine = engine_of(method)
    agent = find_method(method).make_agent(engine.task, PAPER, key=jr.key(0))
    state = jax.eval_shape(lambda key: first_state(engine, agent, key), jr.key(1))
    return engine.compiled_iteration.lower(state, PAPER.numbers(), np.float32(100)).compile().as_text() or ""


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="other devices fuse differently")
@pytest.mark.parametrize(("method", "in_loop"), [("ppo", 70), ("diprl", 100)])
def test_a_gradient_step_starts_few_kernels(method: str, in_loop: int) -> None:
    loops = {name: count for name, count in kernels(compiled_text(method)).items() if "region" in name}
    assert 20 < max(loops.values()) <= in_loop


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="other devices multiply differently")
def test_no_product_of_layers_is_left_to_the_slow_kernel() -> None:
    products = re.findall(r"= f32\[(\d+),(\d+)\]\S* dot\(.*lhs_contracting_dims=\{(\d)\}", compiled_text("ppo"))
    shapes = [(int(rows), int(columns)) for rows, columns, contracted in products if contracted == "0"]
    assert len(products) > 5
    assert not [shape for shape in shapes if min(shape) > 1]


def test_rollouts_are_traced_once() -> None:
    traces = []

    class Counting(Engine):
        def iteration(self, *arguments: object) -> object:  # type: ignore[override]
            traces.append(1)
            return super().iteration(*arguments)  # type: ignore[arg-type]

    task = load_task("CartPole-v1")
    settings = PAPER.with_values(num_envs=2, num_steps=8, minibatch_size=8, num_epochs=1, hidden_size=4)
    agent = find_method("diprl").make_agent(task, settings, key=jr.key(0))
    engine = Counting(task, settings, agent)
    state = first_state(engine, agent, jr.key(1))
    for learning_rate in (0.001, 0.002, 0.003):
        numbers = settings.with_values(learning_rate=learning_rate).numbers()
        state, _ = engine.compiled_iteration(state, numbers, np.float32(100))
    assert len(traces) == 1


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="other devices fuse differently")
def test_our_compiler_options_change_no_bit() -> None:
    task = load_task("CartPole-v1")
    settings = PAPER.with_values(num_envs=2, num_steps=8, minibatch_size=8, num_epochs=1, hidden_size=4)
    agent = find_method("diprl").make_agent(task, settings, key=jr.key(0))
    engine = Engine(task, settings, agent)
    plain = jax.jit(engine.iteration)(first_state(engine, agent, jr.key(1)), settings.numbers(), np.float32(100))
    ours = engine.compiled_iteration(first_state(engine, agent, jr.key(1)), settings.numbers(), np.float32(100))
    assert compiler_options()
    np.testing.assert_array_equal(plain[0].vector, ours[0].vector)


TRAINING = """
import jax
compiled = []
jax.monitoring.register_event_duration_secs_listener(
    lambda event, *_, **__: compiled.append(event) if event.endswith("backend_compile_duration") else None
)
from diprl import DiPRL
DiPRL("CartPole-v1", num_steps=8, minibatch_size=64, members=2).learn(4096)
print(len(compiled))
"""


def test_a_training_compiles_few_functions(tmp_path: Path) -> None:
    environment = os.environ | {"DIPRL_CACHE": str(tmp_path)}
    command = [sys.executable, "-c", TRAINING]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert 5 < int(done.stdout.split()[-1]) <= 25
