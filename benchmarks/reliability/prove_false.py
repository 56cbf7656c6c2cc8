# ruff: noqa: PLR0911
"""Random small programs and properties: what is proved must survive dense sampling, and nothing ends in a traceback.

    python benchmarks/reliability/prove_false.py --programs 20000

Points lie at random, on every threshold and bound, and one float beside each of them. A verdict in real arithmetic is
compared with exact rational evaluation, a verdict that covers float64 with the interpreter as well. Closed loops are
compared with simulated runs whose disturbances are at their extremes.
"""

import argparse
import time
import traceback
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import nextafter
from tempfile import TemporaryDirectory

import numpy as np

from diprl.program import Act, Condition, Discrete, Feature, If, Program, Signature
from diprl.program.ast import conditions, terminals
from diprl.program.evaluate import terminal_at
from diprl.verify import Answer, parse_spec, verify
from diprl.verify.closed_loop.loop import Loop
from diprl.verify.closed_loop.simulate import Draws, runs
from diprl.verify.exact.linear import in_single
from diprl.verify.plants.read import parse_plant

NAMES, ACTIONS, NUMBERS = ("x", "y"), ("a", "b", "c"), (-2.0, -1.0, -0.5, 0.0, 0.1, 0.3, 1.0, 3.0)
SIGNATURE = Signature(tuple(Feature(name, low=-1.0, high=1.0) for name in NAMES), Discrete(ACTIONS))
KINDS = ("symmetric", "monotone", "never", "robust", "equivalent", "branches", "actions", "loop")


def random_program(generator: np.random.Generator) -> Program:
    node: If | Act = Act(int(generator.integers(3)))
    for _ in range(int(generator.integers(1, 4))):
        weights = tuple(float(one) for one in generator.choice(NUMBERS, 2))
        node = If(Condition(weights, float(generator.choice(NUMBERS))), Act(int(generator.integers(3))), node)
    return Program(SIGNATURE, node)


def points(program: Program, generator: np.random.Generator) -> list[tuple[float, float]]:
    """Random points, and points on and one float beside every threshold and bound."""
    found = [tuple(row) for row in generator.uniform(-1.0, 1.0, (30, 2)).tolist()]
    sides = [-1.0, 1.0, 0.0, *generator.uniform(-1.0, 1.0, 3).tolist()]
    for condition in conditions(program.root):
        (first, second), bias = condition.weights, condition.bias
        for side in sides:
            if second:
                found.append((side, -(bias + first * side) / second))
            if first:
                found.append((-(bias + second * side) / first, side))
    found += list(product((-1.0, 1.0, 0.0), repeat=2))
    near = [(nextafter(x, x + dx), nextafter(y, y + dy)) for x, y in found for dx, dy in product((-1, 1), repeat=2)]
    return [(x, y) for x, y in found + near if abs(x) <= 1.0 and abs(y) <= 1.0]


def exact_action(program: Program, point: tuple[float, ...]) -> int:
    node = program.root
    while isinstance(node, If):
        terms = (Fraction(w) * Fraction(v) for w, v in zip(node.condition.weights, point, strict=True))
        node = node.then if sum(terms, Fraction(node.condition.bias)) > 0 else node.orelse
    return node.action


def single_action(program: Program, point: tuple[float, ...]) -> int:
    """What the interpreter does when it calculates in 32 bits."""
    leaf = terminal_at(program.root, in_single(point))
    assert isinstance(leaf, Act)
    return leaf.action


def on_threshold(program: Program, point: tuple[float, ...]) -> bool:
    rows = [one for one in conditions(program.root) if any(one.weights)]
    values = [
        sum((Fraction(w) * Fraction(v) for w, v in zip(one.weights, point, strict=True)), Fraction(one.bias))
        for one in rows
    ]
    return 0 in values


def contradiction(
    kind: str, program: Program, other: Program, asked: dict, answer: Answer, generator: np.random.Generator
) -> str:
    """A sampled point that an answer cannot explain, in words; empty where there is none."""
    if answer.verdict != "proved":
        return ""
    ways = [exact_action]
    if not answer.real_only:
        running = single_action if asked["arithmetic"] == "float32" else lambda one, point: int(one.act(point))
        ways.append(running)
    for act, point in product(ways, points(program, generator) + points(other, generator)):
        taken = act(program, point)
        if kind == "never" and taken == asked["action"] and point[0] > asked["above"]:
            return f"{point} takes action {taken}"
        if kind == "equivalent" and taken != act(other, point):
            return f"{point} differs"
        if kind == "monotone" and taken == 0:
            higher = (nextafter(point[0], 2.0) if generator.random() < 0.5 else (point[0] + 1.0) / 2.0, point[1])
            if point[0] < higher[0] <= 1.0 and act(program, higher) == 1:
                return f"{point} raised to {higher}"
        if kind == "symmetric" and not on_threshold(program, point):
            image = (-point[0], -point[1])
            if not on_threshold(program, image) and act(program, image) != (1, 0, 2)[taken]:
                return f"{point} and its image"
        if kind == "robust":
            size = max(abs(one - 0.25) for one in point)
            if size < 0.05 and taken != act(program, (0.25, 0.25)):
                return f"{point} is close and differs"
    return ""


def loop_contradiction(program: Program, spec, answer: Answer) -> str:
    (wanted,) = spec.properties
    if answer.verdict != "proved":
        return ""
    loop = Loop(program, wanted.plant, wanted.noise, spec.arithmetic)
    low, high = np.array(wanted.claim.start.low), np.array(wanted.claim.start.high)
    generator = np.random.default_rng(0)
    starts = np.concatenate(
        [generator.uniform(low, high, (300, len(low))), list(product(*zip(low, high, strict=True)))]
    ).T
    claim = replace(wanted.claim, steps=wanted.claim.steps or 60)
    for _, _, wrong in runs(loop, claim, starts, Draws(loop, 1, starts.shape[1])):
        if wrong.any():
            return f"the run from {starts[:, np.argmax(wrong)]}"
    return ""


def random_loop(generator: np.random.Generator) -> tuple[str, str]:
    """A random plant in the plane and a claim about it."""
    a, b, c, d = generator.choice((-0.4, -0.1, 0.0, 0.1, 0.3), 4)
    wind = float(generator.choice((0.0, 0.02)))
    extra = generator.choice(("", "- 0.1*x^2", "+ 0.1*sin(x)", "- 0.05*max(y, 0)"))
    plant = f"""
states: [x, y]
actions: {{u: {{a: -0.2, b: 0.1, c: 0.3}}}}
disturbances: {{wind: [{-wind}, {wind}]}}
next: {{x: "0.8*x + {a}*y {extra} + wind", y: "clip({b}*x + 0.7*y + {c}*u + {d}*x*y, -2, 2)"}}
start: {{x: [{generator.uniform(-1, 0)}, {generator.uniform(0, 1)}], y: [-0.3, 0.3]}}
"""
    bound, steps = generator.uniform(0.3, 2.0), int(generator.integers(1, 12))
    claims = (
        f"kind: always, steps: {steps}, hold: [x < {bound}, y > {-bound}]",
        f"kind: always, hold: x <= {bound}, noise: {{x: 0.05}}",
        f"kind: reaches, steps: {steps}, goal: [x < {bound / 2}, x > {-bound / 2}]",
        f"kind: stays, after: {steps}, steps: {steps + 5}, hold: y < {bound / 2}, delay: 1",
        f"kind: chattering, steps: {steps}, switches: {int(generator.integers(0, 4))}",
    )
    return plant, str(generator.choice(claims))


def examine(number: int) -> tuple[str, str, str]:
    """One program and one property: kind, verdict, and what is wrong with it."""
    generator = np.random.default_rng(number)
    kind = KINDS[number % len(KINDS)]
    program, other = random_program(generator), random_program(generator)
    if generator.random() < 0.5:  # the same program in other words
        other = Program(SIGNATURE, If(Condition((0.0, 0.0), 1.0), program.root, other.root))
    asked = {"action": int(generator.integers(3)), "above": float(generator.choice((-2.0, 0.0, 0.5)))}
    asked["arithmetic"] = str(generator.choice(("float64", "float32")))
    if kind == "loop":
        plant, claim = random_loop(generator)
        text = f"timeout: 2\narithmetic: {asked['arithmetic']}\nproperties: [{{{claim}}}]"
        spec = parse_spec(text, program, plant=parse_plant(plant))
        answer = verify(program, spec).findings[0].answer
        return kind, answer.verdict, loop_contradiction(program, spec, answer)
    text = {
        "symmetric": "mirror: {a: b, b: a}",
        "monotone": "feature: x, never_from: a, to: b",
        "never": f"action: {ACTIONS[asked['action']]}, when: x > {asked['above']}",
        "robust": "at: {x: 0.25, y: 0.25}, at_least: 0.05",
        "equivalent": "to: other.txt",
    }.get(kind, "name: x")
    with TemporaryDirectory() as folder:
        other.save(f"{folder}/other.txt")
        head = f"timeout: 20\narithmetic: {asked['arithmetic']}\n"
        spec = parse_spec(f"{head}properties: [{{kind: {kind}, {text}}}]", program, folder)
        answer = verify(program, spec).findings[0].answer
    if kind == "branches" and answer.verdict == "refuted":
        dead = {int(line.split()[1]) - 1 for line in answer.details}
        leaves = [exact_leaf(program, point) for point in points(program, generator)]
        return kind, answer.verdict, "a dead branch is reached" if dead & set(leaves) else ""
    if kind == "actions":
        possible = answer.summary.partition(": ")[2].split(", ")
        seen = {ACTIONS[exact_action(program, point)] for point in points(program, generator)}
        return kind, answer.verdict, "" if seen <= set(possible) or answer.verdict != "proved" else f"{seen}"
    return kind, answer.verdict, contradiction(kind, program, other, asked, answer, generator)


def exact_leaf(program: Program, point: tuple[float, ...]) -> int:
    node, before = program.root, 0
    while isinstance(node, If):
        terms = (Fraction(w) * Fraction(v) for w, v in zip(node.condition.weights, point, strict=True))
        if sum(terms, Fraction(node.condition.bias)) > 0:
            node = node.then
        else:
            before, node = before + len(terminals(node.then)), node.orelse
    return before


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--programs", type=int, default=20_000)
    options.add_argument("--first", type=int, default=0)
    asked = options.parse_args()
    begin, counts, bad, tracebacks = time.perf_counter(), Counter(), [], 0
    for number in range(asked.first, asked.first + asked.programs):
        try:
            kind, verdict, problem = examine(number)
        except Exception:
            traceback.print_exc()
            tracebacks += 1
            print("number", number, flush=True)
            continue
        counts[kind, verdict] += 1
        if (number + 1) % 500 == 0:
            print(
                f"{number + 1 - asked.first:,} so far, {len(bad)} contradictions, {tracebacks} tracebacks", flush=True
            )
        if problem:
            bad.append((number, kind, problem))
            print("contradiction", number, kind, problem, flush=True)
    verdicts = Counter(verdict for (_, verdict), count in counts.items() for _ in range(count))
    told = ", ".join(f"{count:,} {verdict}" for verdict, count in verdicts.most_common())
    kinds = ", ".join(f"{sum(c for (k, _), c in counts.items() if k == kind):,} {kind}" for kind in KINDS)
    print(
        f"{asked.programs:,} programs: {len(bad)} contradictions, {tracebacks} tracebacks; {told}; {kinds}; "
        f"{time.perf_counter() - begin:.0f} s"
    )
    print({key: counts[key] for key in sorted(counts)})


if __name__ == "__main__":
    main()
