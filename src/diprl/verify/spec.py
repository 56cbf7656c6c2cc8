"""The properties that can be asked of a program, each resolved against its signature."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from diprl.program import Program
from diprl.verify.constraint import Box, Constraint

Norm = Literal["max", "sum"]


@dataclass(frozen=True)
class Branches:
    """Every branch is reached by some state of the box."""

    kind: ClassVar[str] = "branches"
    name: str
    box: Box


@dataclass(frozen=True)
class Actions:
    """Which actions, or which range of outputs, the program can give in the box."""

    kind: ClassVar[str] = "actions"
    name: str
    box: Box
    only: tuple[int, ...] | None = None
    """Actions that may appear; None asks only which do."""
    outputs: tuple[tuple[int, float, float], ...] = ()
    """Output, lowest and highest value that it may have."""


@dataclass(frozen=True)
class Never:
    """Some action is never taken where all conditions hold."""

    kind: ClassVar[str] = "never"
    name: str
    box: Box
    action: int | Constraint
    """An action or primitive by its index, or an inequality over continuous outputs."""
    when: tuple[Constraint, ...]


@dataclass(frozen=True)
class NeverSwitches:
    """Raising one feature alone never switches from one action to another."""

    kind: ClassVar[str] = "monotone"
    name: str
    box: Box
    feature: int
    before: int
    after: int


@dataclass(frozen=True)
class MonotoneOutput:
    """Raising one feature alone never lowers an output, or never raises it."""

    kind: ClassVar[str] = "monotone"
    name: str
    box: Box
    feature: int
    output: int
    rising: bool


@dataclass(frozen=True)
class Robust:
    """How far a state can move, in scaled units, before the program acts differently."""

    kind: ClassVar[str] = "robust"
    name: str
    box: Box
    state: tuple[float, ...]
    scales: tuple[float, ...]
    norm: Norm
    at_least: float | None


@dataclass(frozen=True)
class Equivalent:
    """Another program gives the same actions everywhere in the box."""

    kind: ClassVar[str] = "equivalent"
    name: str
    box: Box
    other: Program
    tolerance: float
    near: tuple[float, ...]
    """The state whose nearest difference is looked for."""
    scales: tuple[float, ...]


@dataclass(frozen=True)
class Symmetric:
    """At the mirrored state the program takes the mirrored action."""

    kind: ClassVar[str] = "symmetric"
    name: str
    box: Box
    negate: tuple[int, ...]
    """Features that change sign in the mirror."""
    mirror: tuple[int, ...]
    """For each action or primitive, its mirror image; continuous outputs change sign."""


@dataclass(frozen=True)
class Safe:
    """From every start in the box, the closed loop satisfies the conditions at each of so many steps."""

    kind: ClassVar[str] = "safe"
    name: str
    box: Box
    steps: int
    always: tuple[Constraint, ...]


Property = Branches | Actions | Never | NeverSwitches | MonotoneOutput | Robust | Equivalent | Symmetric | Safe


@dataclass(frozen=True)
class Spec:
    """What to ask of one program."""

    properties: tuple[Property, ...]
    task: str = ""
    """The environment in which witnesses are replayed and whose dynamics close the loop."""
    timeout: float = 10.0
    """Seconds for each property."""
    box: Box | None = None
    """Where properties are examined unless they say otherwise."""
