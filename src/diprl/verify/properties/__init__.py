"""The properties that can be asked of a program: each is what is asked, how it is read and how it is decided."""

from collections.abc import Callable

from diprl.verify.properties.actions import Actions
from diprl.verify.properties.branches import Branches
from diprl.verify.properties.equivalent import Equivalent
from diprl.verify.properties.monotone import MonotoneOutput, NeverSwitches, read_monotone
from diprl.verify.properties.never import Never
from diprl.verify.properties.robust import Robust
from diprl.verify.properties.safe import Safe
from diprl.verify.properties.symmetric import Symmetric
from diprl.verify.spec.asked import Asked

Property = Branches | Actions | Never | NeverSwitches | MonotoneOutput | Robust | Equivalent | Symmetric | Safe
READERS: dict[str, Callable[[str, Asked], Property]] = {
    "branches": Branches.read,
    "actions": Actions.read,
    "never": Never.read,
    "monotone": read_monotone,
    "robust": Robust.read,
    "equivalent": Equivalent.read,
    "symmetric": Symmetric.read,
    "safe": Safe.read,
}
"""How each kind of property is read: with its name, from what is asked."""
