"""The properties that can be asked of a program: each is what is asked, how it is read and how it is decided."""

from diprl.verify.properties.actions import Actions, Never
from diprl.verify.properties.branches import Branches
from diprl.verify.properties.nearest import Equivalent, Robust
from diprl.verify.properties.pairs import Monotone, Symmetric
from diprl.verify.properties.safe import Safe

Property = Branches | Actions | Never | Monotone | Robust | Equivalent | Symmetric | Safe
KINDS = {one.__name__.lower(): one for one in (Branches, Actions, Never, Monotone, Robust, Equivalent, Symmetric, Safe)}
"""By what a specification calls them."""
