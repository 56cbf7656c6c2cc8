"""A program together with its interface: what a user holds, runs, prints, saves and edits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diprl.errors import DiprlError, ProgramError
from diprl.program import ast, edit, evaluate, json_form
from diprl.program.check import canonical_root, canonical_signature
from diprl.program.explain import Explanation, explain
from diprl.program.signature import Discrete, Primitives, Signature
from diprl.program.text_format import format_program
from diprl.program.text_parse import parse_body, parse_text
from diprl.system.files import read_text, write_text


@dataclass(frozen=True, repr=False)
class Program:
    """An if/else program over named features: the policy itself, and `print` shows exactly what runs.

    >>> program = Program.from_text("features: angle, speed\\nactions: left, right\\n\\n"
    ...                             "if 3*angle + speed > 0: right\\nelse: left")
    >>> program.act([0.1, -0.2])
    1
    >>> program
    <Program: depth 2, 1 conditions, 2 coefficients>
    """

    signature: Signature
    root: ast.Node
    task: str = ""
    """Name of the task or environment it was learnt on, kept in text and JSON."""

    def __post_init__(self) -> None:
        """Check everything once and keep numbers as Python floats, so that any numeric type may be given."""
        signature = canonical_signature(self.signature)
        object.__setattr__(self, "signature", signature)
        object.__setattr__(self, "root", canonical_root(self.root, signature))

    @property
    def depth(self) -> int:
        """The longest chain of actions; a program without conditions has depth 1."""
        return ast.depth(self.root)

    @property
    def conditions(self) -> int:
        """How many conditions the program has."""
        return len(ast.conditions(self.root))

    @property
    def coefficients(self) -> int:
        """How many non-zero numbers a reader has to look at."""
        return ast.coefficients(self.root)

    def act(self, features: ArrayLike, primitive_actions: ArrayLike | None = None) -> int | NDArray[np.float64]:
        """The action for one observation: an index, or a vector clipped to its range.

        Programs that blend primitives also need what each primitive would do, one row per primitive.
        """
        values = self._features(features, 1).tolist()
        leaf, actions = evaluate.terminal_at(self.root, values), self.signature.actions
        if isinstance(leaf, ast.Act) or isinstance(actions, Discrete):
            return leaf.action  # type: ignore[union-attr]
        primitives: Any = self._primitive_actions(primitive_actions, 1)
        rows = () if primitives is None else primitives[0].tolist()
        return np.array(evaluate.vector(leaf, values, actions, rows))

    def act_batch(self, features: ArrayLike, primitive_actions: ArrayLike | None = None) -> NDArray[Any]:
        """The actions for a batch of observations, bit for bit as `act` gives them one by one."""
        columns = self._columns(features)
        primitives = self._primitive_actions(primitive_actions, columns.shape[1])
        return evaluate.act_batch(self.root, self.signature.actions, columns, primitives)

    def branch_batch(self, features: ArrayLike) -> NDArray[np.int64]:
        """Which leaf each observation reaches, counted in the order in which they are printed."""
        return evaluate.branch_batch(self.root, self._columns(features))

    def predict(
        self, observation: ArrayLike, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[Any, Any]:
        """Act as Stable-Baselines3's models do, on one observation or a batch; always deterministic."""
        if isinstance(self.signature.actions, Primitives):
            raise ProgramError("a program over primitives needs their actions: call act(features, primitive_actions)")
        observations = np.asarray(observation, np.float64)
        actions = self.act_batch(np.atleast_2d(observations))
        return (actions[0] if observations.ndim == 1 else actions), state

    def explain(self, features: ArrayLike, scales: Sequence[float] | None = None) -> Explanation:
        """Why this observation gets its action, and the smallest changes that would give it another.

        `scales` says how much of each feature counts as one unit of change.

        >>> program = Program.from_text("features: level\\nactions: off, on\\n\\nif level > 1: on\\nelse: off")
        >>> found = program.explain([0.75])
        >>> found.action, str(found.nearest)
        ('off', 'level +0.25 gives on')
        """
        return explain(self, features, scales)

    def edit(
        self,
        path: edit.Path = (),
        *,
        replace: "ast.Node | str | None" = None,
        weights: Mapping[str, float] | None = None,
        bias: float | None = None,
        prune: bool = False,
        swap: bool = False,
    ) -> "Program":
        """A changed copy: at the node that a path such as "else.then" leads to, do exactly one thing.

        `replace` puts another node or text there, `weights` and `bias` change its condition, `prune` removes
        the branch so that its sibling takes the parent's place, `swap` exchanges its two branches.

        >>> program = Program.from_text("features: level\\nactions: off, on\\n\\nif level > 1: on\\nelse: off")
        >>> program.act([1.2]), program.edit(bias=-1.5).act([1.2])
        (1, 0)
        """
        numbers = weights is not None or bias is not None
        if sum((replace is not None, numbers, prune, swap)) != 1:
            raise ProgramError("an edit does exactly one of: replace, weights and bias, prune, swap")
        if replace is not None:
            node = parse_body(replace, self.signature) if isinstance(replace, str) else replace
            return self.with_root(edit.replace_node(self.root, path, node))
        if numbers:
            return self.with_root(edit.set_numbers(self.root, path, self.signature, weights or {}, bias))
        change = edit.prune_branch if prune else edit.swap_branches
        return self.with_root(change(self.root, path))

    def rounded(self, digits: int) -> "Program":
        """The program with every number rounded to some significant digits: another program, to be scored again."""
        return self.with_root(ast.assemble(edit.round_item(item, digits) for item in ast.flatten(self.root)))

    def with_root(self, root: ast.Node) -> "Program":
        """Another program with the same interface, which is not checked again: it may have hundreds of features."""
        other = object.__new__(Program)
        for name, value in (("signature", self.signature), ("task", self.task)):
            object.__setattr__(other, name, value)
        object.__setattr__(other, "root", canonical_root(root, self.signature))
        return other

    def save(self, path: str | Path) -> None:
        """Write JSON to a .json file, text to any other, whole or not at all."""
        path = Path(path)
        write_text(path, self.to_json() if path.suffix == ".json" else str(self))

    @classmethod
    def load(cls, path: str | Path) -> "Program":
        """Read a program from a file, telling JSON from text by its content; errors name the file."""
        try:
            text = read_text(Path(path))
        except DiprlError as error:
            raise ProgramError(str(error)) from error
        try:
            return cls.from_text(text)
        except ProgramError as error:
            error.args = (f"{path}: {error}",)
            raise

    @classmethod
    def from_text(cls, text: str, signature: Signature | None = None) -> "Program":
        """Read text or JSON; text without a header needs a signature. Nothing in the text can run.

        A mistake raises `ProgramSyntaxError`, which names the line, the column and what was expected there.
        """
        if text.lstrip("\ufeff \t\r\n").startswith("{"):
            return cls.from_json(text)
        return cls(*parse_text(text, signature))

    def to_json(self) -> str:
        """The program as JSON, which `from_json` and `load` read back to an equal program."""
        return json_form.to_json(self.signature, self.root, self.task)

    @classmethod
    def from_json(cls, text: str) -> "Program":
        """Read what `to_json` wrote."""
        return cls(*json_form.from_json(text.removeprefix("\ufeff")))

    def export(self, target: str, folder: str | Path, primitives: Sequence[Any] | None = None) -> Any:
        """Write the program in another language, checked against this one; returns a report."""
        return import_module("diprl.export").export(self, target, folder, primitives)

    def to_python(self, primitives: Sequence[Any] | None = None) -> str:
        """One Python file that needs nothing but Python."""
        return import_module("diprl.export.python").to_python(self, primitives)

    def to_c(self, primitives: Sequence[Any] | None = None) -> str:
        """C99 header and source in one text."""
        return import_module("diprl.export.c").to_c(self, primitives)

    def to_latex(self, standalone: bool = False) -> str:
        """A formula for papers."""
        return import_module("diprl.export.latex").to_latex(self, standalone)

    def to_svg(self) -> str:
        """A drawing of the tree."""
        return import_module("diprl.export.svg").to_svg(self)

    def to_st(self) -> str:
        """An IEC 61131-3 function block in Structured Text."""
        return import_module("diprl.export.st").to_st(self)

    _repr_svg_ = to_svg  # how a notebook shows the program

    def __str__(self) -> str:
        return format_program(self.signature, self.root, self.task)

    def __repr__(self) -> str:
        task = f" for {self.task}" if self.task else ""
        size = f"depth {self.depth}, {self.conditions} conditions, {self.coefficients} coefficients"
        return f"<Program{task}: {size}>"

    def _features(self, features: ArrayLike, dimensions: int) -> NDArray[np.float64]:
        values = np.asarray(features, np.float64)
        if values.ndim != dimensions or values.shape[-1] != len(self.signature.features):
            wanted = ("n, " if dimensions == 2 else "") + str(len(self.signature.features))
            raise ProgramError(f"the features have shape {values.shape}: the program reads ({wanted})")
        return values

    def _columns(self, features: ArrayLike) -> NDArray[np.float64]:
        return np.ascontiguousarray(self._features(features, 2).T)

    def _primitive_actions(self, given: ArrayLike | None, count: int) -> NDArray[np.float64] | None:
        """What the primitives do for each observation; None for a program that blends none."""
        actions = self.signature.actions
        if not isinstance(actions, Primitives):
            return None
        shape = (len(actions.names), len(actions.low))
        values = np.zeros(()) if given is None else np.asarray(given, np.float64)
        if values.shape == shape and count == 1:
            values = values[None]
        if values.shape != (count, *shape):
            found = "missing" if given is None else f"of shape {values.shape}"
            raise ProgramError(f"the primitives' actions are {found}: give {shape} for each observation")
        return values


parse = Program.from_text
