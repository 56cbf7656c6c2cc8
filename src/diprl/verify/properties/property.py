"""What every property of a specification has in common."""

from typing import ClassVar, Protocol

from diprl.verify.context import Context
from diprl.verify.exact.linear import Box
from diprl.verify.report import Answer


class Property(Protocol):
    """Something that can be asked of a program, resolved against its signature."""

    kind: ClassVar[str]
    """The word that asks for it in a specification."""

    @property
    def name(self) -> str: ...

    @property
    def box(self) -> Box:
        """The states in question, or those at which episodes start."""
        ...

    def check(self, context: Context) -> Answer:
        """Prove it, refute it, or say why neither is possible."""
        ...
