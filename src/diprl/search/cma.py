"""CMA-ES: search over a vector of numbers by sampling around a mean and learning which directions pay.

After N. Hansen, "The CMA Evolution Strategy: A Tutorial" (2016), with the default strategy parameters given there.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Rates:
    """Strategy parameters, which depend on dimension and population alone."""

    weights: Vector
    """Recombination weights of the better half, best first."""
    effective: float
    """Variance-effective number of parents."""
    path: float
    step_path: float
    damping: float
    rank_one: float
    rank_many: float

    @staticmethod
    def default(size: int, population: int) -> "Rates":
        parents = population // 2
        raw = np.log((population + 1) / 2) - np.log(np.arange(1, parents + 1))
        weights = raw / raw.sum()
        effective = float(1.0 / np.sum(weights**2))
        step_path = (effective + 2) / (size + effective + 5)
        rank_one = 2 / ((size + 1.3) ** 2 + effective)
        rank_many = min(1 - rank_one, 2 * (effective - 2 + 1 / effective) / ((size + 2) ** 2 + effective))
        return Rates(
            weights=weights,
            effective=effective,
            path=(4 + effective / size) / (size + 4 + 2 * effective / size),
            step_path=step_path,
            damping=1 + 2 * max(0.0, np.sqrt((effective - 1) / (size + 1)) - 1) + step_path,
            rank_one=rank_one,
            rank_many=rank_many,
        )


class CMA:
    """One search: `ask` for candidates, `tell` how good they were (larger is better)."""

    def __init__(self, start: Vector, step: float, population: int, seed: int) -> None:
        size = len(start)
        self.mean, self.step, self.population = np.array(start, np.float64), step, population
        self.rates = Rates.default(size, population)
        self.covariance, self.axes, self.lengths = np.eye(size), np.eye(size), np.ones(size)
        self.path, self.step_path = np.zeros(size), np.zeros(size)
        self.expected_length = np.sqrt(size) * (1 - 1 / (4 * size) + 1 / (21 * size**2))
        self.generator, self.generation = np.random.default_rng(seed), 0

    def ask(self) -> NDArray[np.float64]:
        """Candidates around the mean, one per row."""
        noise = self.generator.standard_normal((self.population, len(self.mean)))
        return self.mean + self.step * (noise * self.lengths) @ self.axes.T

    def tell(self, candidates: NDArray[np.float64], fitness: Vector) -> None:
        """Move towards the better half and reshape the distribution."""
        rates, size = self.rates, len(self.mean)
        best = np.argsort(-fitness)[: len(rates.weights)]
        moves = (candidates[best] - self.mean) / self.step
        move = rates.weights @ moves
        self.mean = self.mean + self.step * move
        whitened = self.axes @ ((self.axes.T @ move) / self.lengths)
        self.step_path = (1 - rates.step_path) * self.step_path + np.sqrt(
            rates.step_path * (2 - rates.step_path) * rates.effective
        ) * whitened
        self.generation += 1
        length = np.linalg.norm(self.step_path)
        expected = np.sqrt(1 - (1 - rates.step_path) ** (2 * self.generation)) * self.expected_length
        steady = float(length / expected < 1.4 + 2 / (size + 1))
        self.path = (1 - rates.path) * self.path + steady * np.sqrt(
            rates.path * (2 - rates.path) * rates.effective
        ) * move
        kept = 1 - rates.rank_one - rates.rank_many + (1 - steady) * rates.rank_one * rates.path * (2 - rates.path)
        self.covariance = (
            kept * self.covariance
            + rates.rank_one * np.outer(self.path, self.path)
            + rates.rank_many * (moves.T * rates.weights) @ moves
        )
        self.step *= float(np.exp(rates.step_path / rates.damping * (length / self.expected_length - 1)))
        self.decompose()

    def decompose(self) -> None:
        """The principal axes of the sampling ellipsoid."""
        self.covariance = (self.covariance + self.covariance.T) / 2
        values, self.axes = np.linalg.eigh(self.covariance)
        self.lengths = np.sqrt(np.maximum(values, 1e-20))
