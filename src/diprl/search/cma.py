"""CMA-ES: search over a vector of numbers by sampling around a mean and learning which directions pay.

After N. Hansen, "The CMA Evolution Strategy: A Tutorial" (2016), with the default strategy parameters given there.
"""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class CMA:
    """One search: `ask` for candidates, `tell` how good they were (larger is better)."""

    def __init__(self, start: Vector, step: float, population: int, seed: int) -> None:
        size = len(start)
        self.mean, self.step, self.population = np.array(start, np.float64), step, population
        self.covariance, self.axes, self.lengths = np.eye(size), np.eye(size), np.ones(size)
        self.path, self.step_path = np.zeros(size), np.zeros(size)
        self.expected_length = np.sqrt(size) * (1 - 1 / (4 * size) + 1 / (21 * size**2))
        self.generator, self.generation = np.random.default_rng(seed), 0
        self.set_rates(size, population)

    def set_rates(self, size: int, population: int) -> None:
        """The strategy parameters, which depend on dimension and population alone."""
        raw = np.log((population + 1) / 2) - np.log(np.arange(1, population // 2 + 1))
        self.weights = raw / raw.sum()
        """Of the better half in recombination, best first."""
        self.effective = effective = float(1.0 / np.sum(self.weights**2))
        """Variance-effective number of parents."""
        self.path_rate = (4 + effective / size) / (size + 4 + 2 * effective / size)
        self.step_rate = (effective + 2) / (size + effective + 5)
        self.damping = 1 + 2 * max(0.0, np.sqrt((effective - 1) / (size + 1)) - 1) + self.step_rate
        self.rank_one = 2 / ((size + 1.3) ** 2 + effective)
        spread = 2 * (effective - 2 + 1 / effective) / ((size + 2) ** 2 + effective)
        self.rank_many = min(1 - self.rank_one, spread)

    def ask(self) -> NDArray[np.float64]:
        """Candidates around the mean, one per row."""
        noise = self.generator.standard_normal((self.population, len(self.mean)))
        return self.mean + self.step * (noise * self.lengths) @ self.axes.T

    def tell(self, candidates: NDArray[np.float64], fitness: Vector) -> None:
        """Move towards the better half and reshape the distribution."""
        best = np.argsort(-fitness)[: len(self.weights)]
        moves = (candidates[best] - self.mean) / self.step
        move = self.weights @ moves
        self.mean = self.mean + self.step * move
        whitened = self.axes @ ((self.axes.T @ move) / self.lengths)
        self.step_path = (1 - self.step_rate) * self.step_path + self.push(self.step_rate) * whitened
        self.generation += 1
        length = np.linalg.norm(self.step_path)
        expected = np.sqrt(1 - (1 - self.step_rate) ** (2 * self.generation)) * self.expected_length
        steady = float(length / expected < 1.4 + 2 / (len(self.mean) + 1))
        self.path = (1 - self.path_rate) * self.path + steady * self.push(self.path_rate) * move
        lost = (1 - steady) * self.rank_one * self.path_rate * (2 - self.path_rate)
        self.covariance = (
            (1 - self.rank_one - self.rank_many + lost) * self.covariance
            + self.rank_one * np.outer(self.path, self.path)
            + self.rank_many * (moves.T * self.weights) @ moves
        )
        self.step *= float(np.exp(self.step_rate / self.damping * (length / self.expected_length - 1)))
        self.decompose()

    def push(self, rate: float) -> float:
        """How much a move adds to a path that forgets at this rate, so that its length stays as expected."""
        return np.sqrt(rate * (2 - rate) * self.effective)

    def decompose(self) -> None:
        """The principal axes of the sampling ellipsoid."""
        self.covariance = (self.covariance + self.covariance.T) / 2
        values, self.axes = np.linalg.eigh(self.covariance)
        self.lengths = np.sqrt(np.maximum(values, 1e-20))
