"""How far the nearest state is at which a program acts differently: from a state, or from another program."""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import inf, isfinite

from diprl.program import Program
from diprl.program.evaluate import terminal_at
from diprl.verify.context import Context, action_text, leaf_text
from diprl.verify.exact.cells import Leaf, Way, disagreements
from diprl.verify.exact.linear import Box, Constraint, Point, State, Weights, exact, nearest_float
from diprl.verify.exact.question import Undecided
from diprl.verify.properties.counterexamples import Counterexamples
from diprl.verify.report import Answer, named_text
from diprl.verify.spec import Asked, Tree


@dataclass(frozen=True)
class Ruler:
    """Measures from one state: the largest or the sum of the features' changes, each in its own unit.

    Behind the features, a question's variables are the distance itself, or one per feature that add up to it.
    """

    origin: State
    scales: State
    norm: str = "max"
    """The largest change, "max", or the "sum"."""

    @property
    def length(self) -> Weights:
        """The distance as a linear form of the variables."""
        size = len(self.origin)
        return (Fraction(0),) * size + (Fraction(1),) * (1 if self.norm == "max" else size)

    def within(self, radius: Fraction, strict: bool = False) -> Constraint:
        return Constraint(tuple(-entry for entry in self.length), radius, strict)

    def just_beyond(self, radius: Fraction) -> Constraint:
        """Close enough to show a state that is hardly further away, where the nearest one lies on a threshold."""
        return self.within(max(radius * Fraction(1001, 1000), Fraction(1, 10**6)))

    def nearest(self, found: Counterexamples) -> Fraction | None:
        """The exact infimum of the distance over all counterexamples, or None where there is none.

        The optimum is not taken on trust: a second question finds nothing that is closer.
        """
        question = found.question()
        distances = [question.least(self.length) for possible in found.visit(question) if possible]
        if None in distances:
            raise Undecided("z3 finds no least distance, though distances are never negative")
        radius = min((value for value in distances if value is not None), default=None)
        if radius is not None:
            question.push(self.within(radius, strict=True))
            if any(found.visit(question)):
                raise Undecided("the optimum that z3 reports is not one")
        return radius

    def distances(self) -> Way:
        """What makes the further variables distances: each is no smaller than a change or its opposite."""
        size, found = len(self.origin), []
        for (feature, start), sign in product(enumerate(exact(self.origin)), (1, -1)):
            weights = [Fraction(0)] * len(self.length)
            weights[feature] = Fraction(-sign)
            weights[size if self.norm == "max" else size + feature] = Fraction(self.scales[feature])
            found.append(Constraint(tuple(weights), sign * start, strict=False))
        return tuple(found)

    def completed(self, state: State) -> Point:
        """A state, followed by the exact distances that belong to it."""
        rows = zip(exact(state), exact(self.origin), exact(self.scales), strict=True)
        changes = [abs(value - start) / scale for value, start, scale in rows]
        return [*state, max(changes)] if self.norm == "max" else [*state, *changes]


@dataclass(frozen=True)
class Robust:
    """How far a state can move, in scaled units, before the program acts differently."""

    name: str
    box: Box
    ruler: Ruler
    """Measures from the state."""
    at_least: float | None

    @classmethod
    def read(cls, name: str, asked: Asked) -> "Robust":
        state = asked.take("at", asked.state)
        if not asked.box.contains(state):
            raise asked.error("the state of 'at:' lies outside of the box")
        norm = asked.choice("norm", ("max", "sum"), "a norm", "max")
        at_least = asked.take("at_least", Tree.positive, None)
        return cls(name, asked.box, Ruler(state, asked.scales(), norm), at_least)

    def check(self, context: Context) -> Answer:
        """The exact radius around the state within which the terminal stays the same."""
        program, ruler = context.program, self.ruler
        current = terminal_at(program.root, ruler.origin)
        action = leaf_text(program, current)

        def ways(leaf: Leaf) -> list[Way]:
            return [()] if leaf.terminal != current else []

        evaluated = tuple(("changed state", program, place) for _, program, place in context.evaluated)
        found = Counterexamples(context, evaluated, self.box, ways, (), ruler.distances(), ruler.completed)
        found = replace(found, shown={"state": ruler.origin})
        radius = ruler.nearest(found)
        if radius is None:
            return found.proved(f"every state of the box gets '{action}'")
        sentence = f"states closer than {nearest_float(radius):.9g} keep '{action}', and that radius is exact"
        if not radius:
            sentence = f"the radius is exactly 0: some states as close as one likes do not get '{action}'"
        if self.at_least is not None and radius < Fraction(self.at_least):
            closer = ruler.within(Fraction(self.at_least), strict=True)
            answer = replace(found, given=(closer,)).answer(sentence)
            return answer or Answer("unknown", f"{sentence}, but no such state was found")
        states, _ = replace(found, given=(ruler.just_beyond(radius),)).first()
        details = [f"measured as the {ruler.norm} of the scaled changes"]
        if states:
            changed = states["changed state"]
            details.append(f"'{action_text(program, changed)}' appears by {named_text(context.named(changed))}")
        return Answer("proved", sentence, tuple(details), real_only=True)


@dataclass(frozen=True)
class Equivalent:
    """Another program gives the same actions everywhere in the box."""

    name: str
    box: Box
    other: Program
    tolerance: float
    ruler: Ruler
    """Measures from the state whose nearest difference is looked for."""

    @classmethod
    def read(cls, name: str, asked: Asked) -> "Equivalent":
        path = asked.take("to", Tree.text)
        other = Program.load(asked.folder / path)
        ours, theirs = asked.program.signature, other.signature
        if theirs.feature_names != ours.feature_names or theirs.actions != ours.actions:
            raise asked.error(f"{path} has other features or actions than the program")
        near = asked.take("near", asked.state, _middle(asked.box))
        tolerance = asked.take("tolerance", Tree.number, 0.0)
        if not 0.0 <= tolerance < inf:
            raise asked.error("'tolerance:' must not be negative or infinite")
        return cls(name, asked.box, other, tolerance, Ruler(near, asked.scales()))

    def check(self, context: Context) -> Answer:
        ways = partial(disagreements, tolerance=Fraction(self.tolerance))
        ruler = self.ruler
        ((label, _, place),) = context.evaluated
        evaluated = (*context.evaluated, (label, self.other, place))
        found = Counterexamples(context, evaluated, self.box, ways, (), ruler.distances(), ruler.completed)
        radius = ruler.nearest(found)
        if radius is None:
            return found.proved("both programs act alike in every state of the box")
        answer = replace(found, given=(ruler.just_beyond(radius),)).answer("the programs differ")
        if answer is None or answer.witness is None:
            return answer or Answer("unknown", "the programs differ, but no differing state was found")
        state = tuple(value for _, value in answer.witness.states[0][1])
        theirs = f"the interpreter gives '{action_text(self.other, state)}' for the other program"
        witness = replace(answer.witness, replays=(*answer.witness.replays, theirs))
        origin, distance = named_text(context.named(ruler.origin)), f"{nearest_float(radius):.9g}"
        nearest = f"the nearest difference to ({origin}) is {distance} away, exactly"
        return replace(answer, details=(nearest,), witness=witness)


def _middle(box: Box) -> State:
    """The centre of the box; where a side is infinite, the point of it nearest to zero."""
    centre = [low / 2 + high / 2 for low, high in zip(box.low, box.high, strict=True)]
    return box.clamp([value if isfinite(value) else 0.0 for value in centre])
