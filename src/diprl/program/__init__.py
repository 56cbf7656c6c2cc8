"""Programs: print, parse, edit, run. Needs NumPy at most."""

from diprl.program.ast import Act, Affine, Blend, Condition, If, Node, Terminal
from diprl.program.explain import Counterfactual, Explanation, explain
from diprl.program.names import identifier, unique_identifiers
from diprl.program.program import Program, parse
from diprl.program.signature import Actions, Continuous, Discrete, Feature, Primitives, Signature
from diprl.program.tokens import ProgramSyntaxError

__all__ = [
    "Act",
    "Actions",
    "Affine",
    "Blend",
    "Condition",
    "Continuous",
    "Counterfactual",
    "Discrete",
    "Explanation",
    "Feature",
    "If",
    "Node",
    "Primitives",
    "Program",
    "ProgramSyntaxError",
    "Signature",
    "Terminal",
    "explain",
    "identifier",
    "parse",
    "unique_identifiers",
]
