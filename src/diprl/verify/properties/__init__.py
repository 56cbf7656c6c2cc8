"""The properties that can be asked of a program: each is what is asked, how it is read and how it is decided."""

from diprl.verify.properties.actions import Actions, Branches, Never
from diprl.verify.properties.loops import LOOP_KINDS, LoopProperty
from diprl.verify.properties.nearest import Equivalent, Robust
from diprl.verify.properties.pairs import Monotone, Symmetric

Property = Branches | Actions | Never | Monotone | Robust | Equivalent | Symmetric | LoopProperty
_KINDS = (Branches, Actions, Never, Monotone, Robust, Equivalent, Symmetric)
KINDS = {one.__name__.lower(): one for one in _KINDS} | {one.name: one for one in LOOP_KINDS}
"""By what a specification calls them."""
