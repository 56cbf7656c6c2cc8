"""How far training is from what the machine could do: operations and bytes of one update, against matrix products.

    python benchmarks/limits.py

The work of an update is counted from shapes: the products of the networks, forwards and backwards, and the passes of
Adam over its vectors. The machine's rate is measured on products of the very same shapes.
"""

import time
from itertools import pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp

FLOAT = 4
ADAM_PASSES = 7
"""Reads of gradient, two moments and parameters; writes of the last three."""
REPEATS = 20_000


class Work(NamedTuple):
    """What one gradient step has to do."""

    operations: int
    parameters: int
    bytes: int


def network_sizes(method: str, features: int, hidden: int, actions: int) -> list[tuple[int, ...]]:
    """The networks that a method trains: a critic, and a policy where the policy is a network."""
    critic, policy = (features, hidden, hidden, 1), (features, hidden, hidden, actions)
    return [critic, policy] if method == "ppo" else [critic]


def work(networks: list[tuple[int, ...]], minibatch: int, others: int = 0) -> Work:
    """Count one gradient step; `others` are parameters outside the networks, whose products are negligible."""
    operations, parameters = 0, others
    for sizes in networks:
        for layer, (inputs, outputs) in enumerate(pairwise(sizes)):
            products = 2 if layer == 0 else 3  # the inputs of the first layer need no gradient
            operations += products * 2 * minibatch * inputs * outputs
            parameters += (inputs + 1) * outputs
    activations = sum(sum(sizes) for sizes in networks) * minibatch * 2
    return Work(operations, parameters, FLOAT * (ADAM_PASSES * parameters + activations))


def product_rate(rows: int, inner: int, columns: int) -> float:
    """Operations per second of a matrix product that stays in the cache, the best of five measurements."""
    left, right = jnp.ones((rows, inner)), jnp.eye(inner, columns)

    @jax.jit
    def repeat(left: jax.Array, right: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, REPEATS, lambda _, x: (x @ right)[:, :inner], left)

    jax.block_until_ready(repeat(left, right))
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        jax.block_until_ready(repeat(left, right))
        seconds.append(time.perf_counter() - began)
    return 2 * rows * inner * columns * REPEATS / min(seconds)


def limits(speeds: dict[str, float], minibatch: int = 64, epochs: int = 10, hidden: int = 64) -> list[str]:
    """A Markdown table: work per update, time at the machine's rate, and the part of the whole that this time is."""
    rate = product_rate(minibatch, hidden, hidden)
    rows = [
        f"Products of {minibatch} × {hidden} by {hidden} × {hidden}: {rate / 1e9:.0f} GFLOP/s on this machine.",
        "",
        "| Method | Parameters | MFLOP per update | kB per update | Update at that rate | Measured | Fraction |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for method, speed in speeds.items():
        one = work(network_sizes(method, 4, hidden, 2), minibatch)
        ideal, measured = one.operations / rate, minibatch / epochs / speed
        rows.append(
            f"| {method} | {one.parameters:,} | {one.operations / 1e6:.2f} | {one.bytes / 1e3:.0f} | "
            f"{ideal * 1e6:.0f} µs | {measured * 1e6:.0f} µs | {ideal / measured:.0%} |"
        )
    return rows


def main() -> None:
    from against_sb3 import our_speed

    print("\n".join(limits({method: our_speed(method) for method in ("ppo", "diprl")})))


if __name__ == "__main__":
    main()
