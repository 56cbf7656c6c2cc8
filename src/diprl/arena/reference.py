"""Episodes on the reference environment, with whatever acts: this is where every reported score comes from."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diprl.arena.episodes import EVALUATION, VISITS
from diprl.arena.score import Score, score_of
from diprl.errors import DiprlError
from diprl.program import Program
from diprl.program.packed import Together
from diprl.tasks.base import Task, Views
from diprl.tasks.batches.sync import checked_views, random_actions
from diprl.tasks.misdeeds import Checked

if TYPE_CHECKING:
    from diprl.tasks.mujoco.gymnasium_batch import GymnasiumEnvironments

Act = Callable[[Views], NDArray[Any]]
"""Actions for a batch of views."""

PARALLEL_EPISODES = 32


def program_act(task: Task, program: Program) -> Act:
    """How a program acts on the task's views."""

    def act(views: Views) -> NDArray[Any]:
        return program.act_batch(*read_view(task, program, views))

    return act


def read_view(task: Task, program: Program, views: Views) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """What a program reads of the task's views: features and, where it blends any, the primitives' actions."""
    layout, features = task.layout, views[:, : len(program.signature.features)]
    if not layout.primitives:
        return features, None
    return features, views[:, layout.critic :].reshape(-1, layout.primitives, layout.actuators)


def random_act(task: Task, seed: int) -> Act:
    """Actions drawn evenly from all that there are."""
    generator = np.random.default_rng(seed)
    return lambda views: random_actions(generator, task.signature.actions, len(views))


def evaluate_program(task: Task, program: Program, episodes: int = 100, seed: int = EVALUATION.seed) -> Score:
    """The score of a program on the reference environment."""
    return evaluate(task, program_act(task, program), episodes, seed)


def evaluate(task: Task, act: Act, episodes: int = 100, seed: int = EVALUATION.seed) -> Score:
    """Returns of episodes seeded seed, seed + 1, … on the reference environment, several at a time."""
    if episodes < 1:
        raise DiprlError(f"episodes must be at least 1, not {episodes}")
    played = play(task, lambda views, _: act(views), range(seed, seed + episodes))
    return score_of(played.returns, {name: float(np.mean(values)) for name, values in played.extra.items()})


def evaluate_many(task: Task, programs: Sequence[Program], episodes: int, seed: int) -> tuple[NDArray[np.float64], int]:
    """Returns (programs, episodes) of several programs on the same episodes, and the steps they took."""
    together = Together(programs)

    def act(views: Views, plays: NDArray[np.int64]) -> NDArray[Any]:
        return together.act(plays // episodes, *read_view(task, programs[0], views))

    played = play(task, act, [*range(seed, seed + episodes)] * len(programs))
    return played.returns.reshape(len(programs), episodes), played.steps


class Played(NamedTuple):
    """What a list of episodes gave."""

    returns: NDArray[np.float64]
    extra: dict[str, list[float]]
    """What the environment reported at the end of episodes."""
    steps: int


def play(task: Task, act: Callable[[Views, NDArray[np.int64]], NDArray[Any]], seeds: Sequence[int]) -> Played:
    """Play one episode per seed; `act` receives views and which episode each belongs to.

    Environments step in lockstep; one that ends takes the next episode that nobody has played yet.
    """
    from diprl.tasks.mujoco.gymnasium_batch import GymnasiumEnvironments, rule_of  # needs Gymnasium, unlike twins

    count, rule = min(len(seeds), PARALLEL_EPISODES), rule_of(task)
    environments = GymnasiumEnvironments(task, rule, count) if rule else OneByOne(task, count)
    try:
        return _play(task, act, environments, count, seeds)
    finally:
        environments.close()


class OneByOne:
    """Environments that are stepped one after another."""

    def __init__(self, task: Task, count: int) -> None:
        self.environments = [Checked(task.reference(), task.name) for _ in range(count)]

    def begin(self, row: int, seed: int) -> Any:
        return self.environments[row].reset(seed)

    def advance(self, rows: Sequence[int], actions: NDArray[Any]) -> tuple[Sequence[Any], ...]:
        """Observations, rewards, ends, cuts and what is reported."""
        results = [self.environments[row].step(action) for row, action in zip(rows, actions, strict=True)]
        return tuple(zip(*results, strict=True))

    def close(self) -> None:
        for environment in self.environments:
            environment.close()


def _play(
    task: Task,
    act: Callable[..., NDArray[Any]],
    environments: "OneByOne | GymnasiumEnvironments",
    count: int,
    seeds: Sequence[int],
) -> Played:
    returns, extra, steps = np.zeros(len(seeds)), {}, 0
    rows, episode_of, following = [*range(count)], [*range(count)], count
    observations: list[Any] = [environments.begin(row, seeds[row]) for row in rows]
    while rows:
        actions = act(checked_views(task, observations, lambda _: task.name), np.array(episode_of))
        steps += len(rows)
        seen, reward, terminated, truncated, *infos = environments.advance(rows, actions)
        observations = [*seen]
        returns[episode_of] += reward
        for slot in reversed(range(len(rows))):
            if not terminated[slot] and not truncated[slot]:
                continue
            for name, value in (infos[0][slot] if infos else {}).items():
                extra.setdefault(name, []).append(value)
            if following < len(seeds):
                observations[slot] = environments.begin(rows[slot], seeds[following])
                episode_of[slot], following = following, following + 1
            else:
                for items in (rows, observations, episode_of):
                    items.pop(slot)
    return Played(returns, extra, steps)


def visited_views(task: Task, program: Program, episodes: int = VISITS.on_reference) -> Views:
    """Every view that the program acts on in some episodes on the reference environment."""
    return views_of(task, program_act(task, program), episodes)


def views_of(task: Task, act: Act, episodes: int = VISITS.on_reference) -> Views:
    """The same of whatever acts."""
    seen: list[Views] = []

    def watch(views: Views) -> NDArray[Any]:
        seen.append(np.array(views))
        return act(views)

    evaluate(task, watch, episodes, VISITS.seed)
    return np.concatenate(seen)
