"""Learns one-leaf programs for the ARCH plants in examples/arch by the cross-entropy method on the plant files.

    python benchmarks/proofs/learn_arch.py            # writes examples/arch/NAME.txt

A program is one affine terminal, so a candidate is a handful of numbers, and hundreds of candidates on dozens of
starts are simulated side by side. The score of a candidate is the worst return over its starts.
"""

import sys
import time
from pathlib import Path

import numpy as np

from diprl.program import Affine, Continuous, Feature, Program, Signature
from diprl.verify.plants.plant import Plant
from diprl.verify.plants.read import load_plant

FOLDER = Path(__file__).parents[2] / "examples" / "arch"
STEPS = {"single_pendulum": 20, "cruise_control": 50, "tora": 20, "unicycle": 50}
CANDIDATES, ELITE, STARTS = 128, 16, 12


def returns(plant: Plant, weights: np.ndarray, steps: int, seed: int) -> np.ndarray:
    """The worst return of each candidate [candidate, output, feature + 1] over some starts."""
    generator = np.random.default_rng(seed)
    count = len(weights) * STARTS
    starts = generator.uniform(plant.start.low, plant.start.high, (STARTS, len(plant.states)))
    states = np.tile(starts, (len(weights), 1)).T
    each = np.repeat(weights, STARTS, axis=0)
    unknowns = np.array([generator.uniform(one.low, one.high, count) for one in plant.unknowns]).reshape(-1, count)
    total = np.zeros(count)
    for step in range(steps):
        seen = np.vstack([plant.observed(states), np.ones(count)])
        inputs = np.einsum("cof,fc->oc", each, seen)
        inputs = np.clip(inputs, np.array(plant.low)[:, None], np.array(plant.high)[:, None])
        states = plant.next_states(states, inputs, unknowns)
        values = plant.values(list(states), list(inputs), list(unknowns))
        total += (1.0 + (step == steps - 1) * steps) * np.nan_to_num(plant.reward(values), nan=-1e9, neginf=-1e9)
    return total.reshape(len(weights), STARTS).min(axis=1)


def learn(plant: Plant, steps: int, generations: int, seed: int = 0) -> Program:
    generator = np.random.default_rng(seed)
    shape = (len(plant.inputs), len(plant.features) + 1)
    mean, deviation = np.zeros(shape), np.full(shape, 1.0)
    for generation in range(generations):
        candidates = mean + deviation * generator.normal(size=(CANDIDATES, *shape))
        candidates[0] = mean
        scores = returns(plant, candidates, steps, generation)
        best = candidates[np.argsort(-scores)[:ELITE]]
        mean, deviation = best.mean(axis=0), best.std(axis=0) + 0.3 * 0.97**generation * 0.1
    rounded = np.array([[float(f"{value:.3g}") for value in row] for row in mean])
    signature = Signature(
        tuple(Feature(name) for name, _ in plant.features), Continuous(plant.inputs, plant.low, plant.high)
    )
    leaf = Affine(tuple(map(tuple, rounded[:, :-1].tolist())), tuple(rounded[:, -1].tolist()))
    return Program(signature, leaf, plant.name)


if __name__ == "__main__":
    for name in sys.argv[1:] or STEPS:
        begin = time.perf_counter()
        plant = load_plant(FOLDER / f"{name}.yaml")
        program = learn(plant, STEPS[name], 60)
        program.save(FOLDER / f"{name}.txt")
        print(
            program,
            f"# {time.perf_counter() - begin:.0f} s, worst return",
            returns(plant, np.array([np.column_stack([program.root.weights, program.root.bias])]), STEPS[name], 99),
            flush=True,
        )
