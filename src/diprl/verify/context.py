"""What every check needs: the program, the model of its task, and how long it may take."""

from dataclasses import dataclass

from diprl.program import Program
from diprl.program.ast import Affine, Terminal
from diprl.program.evaluate import affine, terminal_at
from diprl.program.signature import Continuous
from diprl.program.text_format import format_terminal
from diprl.verify.closed_loop.models import Model
from diprl.verify.deadline import Deadline
from diprl.verify.exact.box import Box, State
from diprl.verify.exact.constraint import Constraint
from diprl.verify.exact.question import Question


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


def outputs_of(program: Program, state: State) -> list[float]:
    """The outputs that the interpreter gives; empty for programs that choose among actions."""
    leaf, actions = terminal_of(program, state), program.signature.actions
    if isinstance(leaf, Affine) and isinstance(actions, Continuous):
        return affine(leaf, state, actions.low, actions.high)
    return []


def leaf_text(program: Program, leaf: Terminal) -> str:
    """A terminal as printed, on one line."""
    return "; ".join(format_terminal(leaf, program.signature))
