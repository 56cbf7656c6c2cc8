"""What every check needs: the program, the plant that it controls, and how long it may take."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from diprl.program import Program
from diprl.program.ast import Terminal
from diprl.program.evaluate import terminal_at
from diprl.program.text_format import format_terminal
from diprl.verify.exact.cells import Evaluated
from diprl.verify.exact.linear import Box, Constraint, State
from diprl.verify.exact.question import Deadline, Question
from diprl.verify.plants.plant import Plant


@dataclass(frozen=True)
class Context:
    """One property's surroundings."""

    program: Program
    plant: Plant | None
    deadline: Deadline
    arithmetic: str = "float64"
    """In which the program runs."""
    progress: Callable[[float, str], None] = lambda _share, _what: None
    """Is told how much of a property is done, and what is going on."""
    certificates: Path | None = None
    """Where proofs about closed loops are kept, and looked for first."""
    processes: int = 1
    """How many may look for a proof."""

    @property
    def names(self) -> tuple[str, ...]:
        return self.program.signature.feature_names

    @property
    def evaluated(self) -> tuple[Evaluated]:
        """The program at the state whose features are a question's variables."""
        return (("state", self.program, tuple((index, 1) for index in range(len(self.names)))),)

    def question(self, box: Box, fixed: Iterable[Constraint] = (), given: Iterable[Constraint] = ()) -> Question:
        """A question about a box of variables, in which only what is `given` may be tightened."""
        question = Question(len(box.low), self.deadline, [*box.constraints(), *fixed])
        question.push(*given)
        return question

    def named(self, state: State) -> tuple[tuple[str, float], ...]:
        return tuple(zip(self.names, state, strict=True))


def leaf_text(program: Program, leaf: Terminal) -> str:
    """A terminal as printed, on one line."""
    return "; ".join(format_terminal(leaf, program.signature))


def action_text(program: Program, state: State) -> str:
    """What the interpreter does at a state, as printed."""
    return leaf_text(program, terminal_at(program.root, state))
