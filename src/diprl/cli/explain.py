"""`diprl explain`: why a program acts as it does in one state, and what would change its mind."""

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

from diprl.cli.options import MaybeCount, PlayCommand, shown
from diprl.errors import DiprlError, check_known
from diprl.terminal.layout import say
from diprl.terminal.progress import Working

if TYPE_CHECKING:
    from diprl.program import Program


@dataclass(frozen=True, kw_only=True)
class Explain(PlayCommand):
    """Say why a program takes its action in a state, and the smallest change of the state that changes it."""

    state: Annotated[str, shown("TEXT")] = ""
    """Features by name, such as "pole_angle=0.02 cart_velocity=-0.1"; the others are 0."""
    from_reset: MaybeCount = None
    """Take the features that are not given from the first state of the episode with this seed."""
    scales: Annotated[str, shown("TEXT")] = ""
    """How much of a feature counts as one unit of change, such as "pole_angle=0.1"; the others count 1."""

    def run(self) -> None:
        with Working("looking for the smallest change"):
            program = self.load_program()
            names = program.signature.feature_names
            start = dict.fromkeys(names, 0.0) if self.from_reset is None else self.first_state(program)
            state = start | parse_values(self.state, names, "--state")
            scales = dict.fromkeys(names, 1.0) | parse_values(self.scales, names, "--scales")
            found = program.explain(list(state.values()), list(scales.values()))
        self.print_json(state=state, **asdict(found))
        units = [f" {feature.unit}" if feature.unit else "" for feature in program.signature.features]
        named = [f"{name} = {value:.4g}{unit}" for (name, value), unit in zip(state.items(), units, strict=True)]
        say(f"In the state {', '.join(named)}\n{found}")

    def first_state(self, program: "Program") -> dict[str, float]:
        """The features at the beginning of an episode."""
        from contextlib import closing

        import numpy as np

        _, task = self.load()
        with closing(task.reference()) as environment:
            view = task.view(np.asarray(environment.reset(seed=self.from_reset)[0])[None])[0]
        return dict(zip(program.signature.feature_names, view.tolist(), strict=False))


def parse_values(text: str, names: tuple[str, ...], option: str) -> dict[str, float]:
    """Features and numbers from `a=1 b=-2`, with spaces or commas between them.

    >>> parse_values("a=1, b=-2e-3", ("a", "b", "c"), "--state")
    {'a': 1.0, 'b': -0.002}
    """
    values: dict[str, float] = {}
    for part in filter(None, re.split(r"[\s,;]+", re.sub(r"\s*=\s*", "=", text))):
        name, _, number = part.partition("=")
        check_known("feature", names, name)
        try:
            values[name] = float(number)
        except ValueError as error:
            raise DiprlError(f'{option} must look like "{name}=0.1", not {part!r}') from error
    return values
