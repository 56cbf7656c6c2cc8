"""What every check needs: the program, the model of its task, and how long it may take."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from diprl.program import Program
from diprl.program.ast import Act, Terminal
from diprl.program.evaluate import terminal_at
from diprl.program.text_format import format_terminal
from diprl.verify.constraint import Box, Constraint
from diprl.verify.models import Model
from diprl.verify.question import Deadline, Question

State = tuple[float, ...]


@dataclass(frozen=True)
class Context:
    """One property's surroundings."""

    program: Program
    model: Model | None
    deadline: Deadline

    @property
    def names(self) -> tuple[str, ...]:
        return self.program.signature.feature_names

    def question(self, box: Box, *given: Constraint) -> Question:
        """A question about the states of a box; what else is given comes on top and may be tightened."""
        question = Question(len(self.names), self.deadline, box.constraints())
        question.push(*given)
        return question

    def named(self, state: State) -> tuple[tuple[str, float], ...]:
        return tuple(zip(self.names, state, strict=True))


def terminal_of(program: Program, state: State) -> Terminal:
    """The terminal that the interpreter reaches."""
    return terminal_at(program.root, state)


def leaf_text(program: Program, leaf: Terminal) -> str:
    """A terminal as printed, on one line."""
    return "; ".join(format_terminal(leaf, program.signature))


def observed(state: State) -> State:
    """What an environment shows of a state: 32-bit floats."""
    return tuple(np.asarray(state, np.float32).astype(float).tolist())


def action_of(program: Program, state: State) -> int:
    """The discrete action at a state as an environment shows it."""
    leaf = terminal_of(program, observed(state))
    assert isinstance(leaf, Act)  # models are given for discrete actions only
    return leaf.action


def environment_at(model: Model, state: State) -> Any:
    """The model's Gymnasium environment in a given state."""
    import gymnasium

    environment: Any = gymnasium.make(model.environment).unwrapped
    environment.reset(seed=0)
    environment.state = np.asarray(state, np.float64)
    return environment


def trajectory(model: Model, program: Program, start: State, steps: int) -> list[State]:
    """The states that the environment goes through under the program, until the episode ends."""
    environment = environment_at(model, start)
    states = [start]
    try:
        for _ in range(steps):
            _, _, terminated, _, _ = environment.step(action_of(program, states[-1]))
            states.append(tuple(np.asarray(environment.state, np.float64).tolist()))
            if terminated:
                break
    finally:
        environment.close()
    return states
