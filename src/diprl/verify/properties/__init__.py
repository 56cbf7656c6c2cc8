"""The properties that can be asked of a program: each is what is asked, how it is read and how it is decided."""

from diprl.verify.properties.actions import Actions, Never
from diprl.verify.properties.branches import Branches
from diprl.verify.properties.monotone import Monotone
from diprl.verify.properties.nearest import Equivalent, Robust
from diprl.verify.properties.safe import Safe
from diprl.verify.properties.symmetric import Symmetric

Property = Branches | Actions | Never | Monotone | Robust | Equivalent | Symmetric | Safe
KINDS = {one.kind: one for one in (Branches, Actions, Never, Monotone, Robust, Equivalent, Symmetric, Safe)}
