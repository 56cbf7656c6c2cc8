"""Conditions are put in front of a program as long as they surely earn more."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.arena.episodes import POLISH_ROUND
from diprl.program import Blend, Program
from diprl.program.signature import Feature, Primitives, Signature
from diprl.search.larger import grown, larger_programs
from diprl.search.smaller import behaviour
from diprl.search.trials import Spent

SENSES = (Feature("distance"), Feature("speed"))
GAITS = Signature(SENSES, Primitives(("run", "leap"), (-1.0,), (1.0,)))
RUN, LEAP = (Program(GAITS, Blend(shares)) for shares in ((1.0, 0.0), (0.0, 1.0)))
WANTED = Program.from_text(str(RUN).partition("\n\n")[0] + "\n\nif -1*distance + 0.3 > 0:\n    leap\nelse:\n    run\n")


class Track:
    """Pays for acting as wanted, with noise that all programs of a round share in part."""

    def __init__(self, noise: float = 0.1, rounds: int = 1000) -> None:
        self.generator, self.noise, self.rounds = np.random.default_rng(0), noise, rounds
        self.states = self.generator.uniform(size=(500, 2)).astype(np.float32)
        self.steps, self.left, self.length = 0, 100_000, 10.0
        self.series: set[int] = set()

    def views(self, program: Program) -> NDArray[np.float32]:
        return self.states

    def play(self, programs: list[Program], episodes: int, series: int = 0) -> NDArray[np.float64]:
        if not self.rounds:
            raise Spent
        self.rounds -= 1
        self.series.add(series)
        wanted = behaviour(WANTED, self.states)
        agree = [np.mean(behaviour(each, self.states) == wanted) for each in programs]
        return np.array(agree)[:, None] + self.noise * self.generator.standard_normal((len(programs), episodes))


def test_a_condition_that_earns_more_is_found_and_no_other() -> None:
    track: Any = Track()
    found = grown(track, RUN)
    agreement = np.mean(behaviour(found, track.states) == behaviour(WANTED, track.states))
    assert (found.conditions, found.coefficients) == (1, 2)
    assert agreement > 0.95
    assert POLISH_ROUND in track.series, "the last word is had by episodes that no race has met"


def test_where_nothing_earns_more_the_program_stays() -> None:
    track: Any = Track()
    assert grown(track, WANTED) == WANTED
    noisy: Any = Track(noise=100.0)
    assert grown(noisy, RUN) == RUN


def test_a_spent_budget_leaves_the_program_as_it_was() -> None:
    track: Any = Track(rounds=1)
    assert grown(track, RUN) == RUN


def test_no_candidate_does_the_same_on_both_branches() -> None:
    states = np.random.default_rng(0).normal(size=(100, 2)).astype(np.float32)
    candidates = list(larger_programs(RUN, states))
    assert len(candidates) == len(set(candidates)) == 2 * 9 * 2  # features, thresholds, sides
    assert all(each.conditions == 1 and LEAP.root in (each.root.then, each.root.orelse) for each in candidates)  # type: ignore[union-attr]


def test_only_programs_that_pick_primitives_grow() -> None:
    program = Program.from_text("features: x\nactions: a, b\n\na\n")
    track: Any = Track()
    assert grown(track, program) is program
    assert not track.series
