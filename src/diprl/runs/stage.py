"""One training within a run, and an agent at some point of it."""

from collections.abc import Callable
from dataclasses import dataclass

from diprl.arena.agents import AgentPlayer, player_for
from diprl.policy.agent import Agent
from diprl.policy.base import Temperatures
from diprl.program import Program
from diprl.train import schedule
from diprl.train.engine import Engine, TrainState
from diprl.train.loop import rollouts_done
from diprl.train.settings import Settings

MakeAgent = Callable[..., Agent]
"""Builds the untrained agent of a method from a task, settings and a `key`."""


@dataclass(frozen=True)
class Stage:
    """One training within a run."""

    name: str
    """Names its checkpoint."""
    settings: Settings
    make_agent: MakeAgent
    to_program: Callable[[Agent, Temperatures], Program] | None = None
    """Reads the program off the agent, where it holds one."""
    start: Agent | None = None
    """An agent to continue from instead of a fresh one."""
    goes_on: "Trained | None" = None
    """The earlier part of the same training, where it paused."""
    until: float = 1.0
    """Where it pauses, as a fraction of the whole training."""
    member: int = 0
    """Which of several independent trainings it is: each draws its own random numbers."""
    reports: int = 50
    """How often it reports on a twin, where each report costs a validation."""
    purpose: str = "training"
    """What its environment steps are counted as."""

    @property
    def earlier(self) -> int:
        """Environment steps of the part before."""
        return self.goes_on.steps if self.goes_on else 0


@dataclass(frozen=True)
class Trained:
    """An agent at some point of its training, with all that is needed to use or continue it."""

    engine: Engine
    state: TrainState
    settings: Settings
    fraction: float = 1.0
    """How far its training has come."""

    @property
    def agent(self) -> Agent:
        return self.engine.compiled_agent(self.state)

    @property
    def player(self) -> AgentPlayer:
        return player_for(self.engine)

    @property
    def temperatures(self) -> Temperatures:
        return schedule.temperatures(self.settings.numbers(), self.fraction)

    @property
    def steps(self) -> int:
        """Environment steps it was trained for."""
        return rollouts_done(self.state) * self.settings.ppo.rollout_size
