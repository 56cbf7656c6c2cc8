"""Which branches are reached, and which actions or outputs a program can give, or never gives."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from diprl.program.ast import Act, Blend, Node, Terminal, terminals
from diprl.program.paths import leaf_paths
from diprl.program.signature import Continuous
from diprl.verify.context import Context, leaf_text
from diprl.verify.exact.cells import Leaf, Way, cells, output_pieces, ways_above_zero
from diprl.verify.exact.linear import Box, Constraint, State, all_text, nearest_float, of_condition
from diprl.verify.properties.counterexamples import Counterexamples, rounded_points
from diprl.verify.report import Answer, named_text
from diprl.verify.spec import Asked

_LISTED = 100
"""More dead branches than this are counted, not listed."""
_READABLE = 16
"""More regions than this are counted, not listed."""
Action = int | Constraint
"""An action or primitive by its index, or an inequality over continuous outputs."""


@dataclass(frozen=True)
class Branches:
    """Every branch is reached by some state of the box."""

    name: str
    box: Box

    @classmethod
    def read(cls, name: str, asked: Asked) -> "Branches":
        return cls(name, asked.box)

    def check(self, context: Context) -> Answer:
        """Proved with a state per branch; refuted by branches that no state of the box reaches."""
        reached = self._reached(context)
        leaves = terminals(context.program.root)
        dead = [number for number in range(len(leaves)) if number not in reached]
        if dead:
            sentence = f"no state reaches {len(dead)} of {len(leaves)} branches"
            return Answer("refuted", sentence, _listed(context, dead, " is dead"))
        unconfirmed = [number for number, state in reached.items() if state is None]
        if unconfirmed:
            sentence = "some branches are reached in real arithmetic, but by no float64 state that was tried"
            return Answer("unknown", sentence, _listed(context, unconfirmed))
        lines = tuple(
            f"branch {number + 1} ({leaf_text(context.program, leaves[number])}) at {named_text(context.named(state))}"
            for number, state in reached.items()
            if state is not None
        )
        count = f"all {len(leaves)} branches are" if len(leaves) > 1 else "the only branch is"
        return Answer("proved", f"{count} reached, each by a state that the interpreter confirms", lines)

    def _reached(self, context: Context) -> dict[int, State | None]:
        """The branches that real arithmetic reaches, each with a state that the interpreter confirms."""
        question, program = context.question(self.box), context.program
        reached = {}
        for (leaf,) in cells(question, context.evaluated):
            points = (self.box.clamp(values) for values in rounded_points(context, question.point()))
            confirmed = (state for state in points if program.branch_batch([state])[0] == leaf.number)
            reached[leaf.number] = next(confirmed, None)
        return reached


def _listed(context: Context, numbers: Sequence[int], what: str = "") -> tuple[str, ...]:
    """Branches with the conditions on the way to each, unless they are too many."""
    paths = _paths(context.program.root, numbers[:_LISTED])
    lines = [f"branch {number + 1}{what}: {acts_text(context, *path)}" for number, path in paths.items()]
    return (*lines, f"and {len(numbers) - _LISTED} more") if len(numbers) > _LISTED else tuple(lines)


def _paths(root: Node, numbers: Iterable[int]) -> dict[int, tuple[Terminal, list[Constraint]]]:
    """The terminals of some branches, each with the conditions on the way to it."""
    wanted = set(numbers)
    return {
        number: (leaf, [of_condition(decision.condition, decision.holds) for decision in path])
        for number, (leaf, path) in enumerate(leaf_paths(root))
        if number in wanted
    }


def acts_text(context: Context, terminal: Terminal, where: Sequence[Constraint]) -> str:
    """What is done, and `where …` or `everywhere`."""
    place = f"where {all_text(where, context.names)}" if where else "everywhere"
    return f"{leaf_text(context.program, terminal)} {place}"


def regions_text(
    context: Context,
    box: Box,
    leaves: Sequence[Leaf],
    more: Callable[[Terminal, Sequence[Constraint]], str] = lambda _terminal, _where: "",
) -> list[str]:
    """What some leaves do and where, and `more` about each, unless they are too many to read."""
    if len(leaves) > _READABLE:
        return [f"{len(leaves)} branches act in the box"]
    found = []
    for terminal, path in _paths(context.program.root, [leaf.number for leaf in leaves]).values():
        where = _needed(context, box, path)
        found.append(acts_text(context, terminal, where) + more(terminal, where))
    return found


def _needed(context: Context, box: Box, path: list[Constraint]) -> list[Constraint]:
    """The conditions that do not follow from the others and the box."""
    needed = path
    for constraint in path:
        others = [other for other in needed if other is not constraint]
        if not context.question(box, [*others, constraint.negated()]).feasible():
            needed = others
    return needed


@dataclass(frozen=True)
class Never:
    """Some action is never taken where all conditions hold."""

    name: str
    box: Box
    action: Action
    when: tuple[Constraint, ...]

    @classmethod
    def read(cls, name: str, asked: Asked) -> "Never":
        action = asked.take("action", asked.output_condition if asked.continuous else asked.action)
        return cls(name, asked.box, action, asked.take("when", asked.conditions, ()))

    def check(self, context: Context) -> Answer:
        names, action = context.program.signature.actions.names, self.action
        described = action.text(names) if isinstance(action, Constraint) else names[action]
        described += f" where {all_text(self.when, context.names)}" if self.when else ""
        found = _taking(context, self.box, [action], self.when)
        answer = found.answer(f"there are states with {described}")
        return answer or found.proved(f"no state of the box has {described}")


@dataclass(frozen=True)
class Actions:
    """Which actions, or which range of outputs, the program can give in the box."""

    name: str
    box: Box
    only: tuple[int, ...] | None = None
    """Actions that may appear; None asks only which do."""
    outputs: Box | None = None
    """The values that outputs may have, for programs that have outputs."""

    @classmethod
    def read(cls, name: str, asked: Asked) -> "Actions":
        if asked.continuous:
            return cls(name, asked.box, outputs=asked.take("outputs", asked.output_box, None))
        return cls(name, asked.box, asked.take("only", lambda tree: tree.items(asked.action), None))

    def check(self, context: Context) -> Answer:
        program, names = context.program, context.program.signature.actions.names
        if isinstance(program.signature.actions, Continuous):
            return self._check_outputs(context)
        leaves = [leaf for (leaf,) in cells(context.question(self.box), context.evaluated)]
        possible = ", ".join(dict.fromkeys(leaf_text(program, leaf.terminal) for leaf in leaves))
        notes = regions_text(context, self.box, leaves)
        if self.only is not None:
            others = [action for action in range(len(names)) if action not in self.only]
            unwanted = _taking(context, self.box, others)
            answer = unwanted.answer(f"the possible actions are: {possible}")
            return answer or unwanted.proved(f"the possible actions are exactly: {possible}", *notes)
        return Answer("proved", f"the possible actions are exactly: {possible}", tuple(notes), real_only=True)

    def _check_outputs(self, context: Context) -> Answer:
        names = context.program.signature.actions.names
        lines = []
        for output, name in enumerate(names):
            low, high = (self._extreme(context, output, sign) for sign in (1, -1))
            lines.append(f"{name} lies in [{low}, {high}], exactly")
        if self.outputs is not None:
            outside = [constraint.negated() for constraint in self.outputs.constraints()]
            found = _taking(context, self.box, outside)
            answer = found.answer(f"not always {self.outputs.text(names)}")
            answer = answer or found.proved("the range of every output is known")
            return replace(answer, details=(*lines, *answer.details))
        return Answer("proved", "the range of every output is known", tuple(lines), real_only=True)

    def _extreme(self, context: Context, output: int, sign: int) -> str:
        """The infimum of an output over the box or, where the sign is −1, its supremum."""
        question, found = context.question(self.box), []
        for (leaf,) in cells(question, context.evaluated):
            for piece in output_pieces(leaf, output):
                with question.asking(piece.given) as possible:
                    if not possible:
                        continue
                    least = question.least(tuple(sign * weight for weight in piece.weights))
                    if least is None:
                        return "unbounded"
                    found.append(least + sign * piece.bias)
        return f"{nearest_float(sign * min(found)):.9g}"


def _taking(context: Context, box: Box, actions: Sequence[Action], when: Way = ()) -> Counterexamples:
    """The states at which one of these actions is taken."""

    def ways(leaf: Leaf) -> Iterator[Way]:
        for action in actions:
            if isinstance(action, Constraint):
                terms = [(weight, leaf, output) for output, weight in enumerate(action.weights) if weight]
                yield from ways_above_zero(terms or [(0, leaf, 0)], action.bias, action.strict)
            elif uses(leaf.terminal, action):
                yield ()

    return Counterexamples(context, context.evaluated, box, ways, when)


def uses(terminal: Terminal, action: int) -> bool:
    """Whether a terminal is a discrete action, or blends a primitive in."""
    if isinstance(terminal, Blend):
        return terminal.weights[action] > 0.0
    return isinstance(terminal, Act) and terminal.action == action
