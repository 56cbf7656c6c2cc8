"""What a user asks of an experiment; a light module, since the command line reads its options from here."""

import shlex
from dataclasses import dataclass, fields
from pathlib import Path

from diprl.errors import DiprlError


@dataclass(frozen=True, kw_only=True)
class Request:
    """Which runs of an experiment, and where their records are kept."""

    quick: bool = False
    """Tiny budgets, to see that everything works; in a folder of their own."""
    preset: str | None = None
    """Settings: default, paper, release, or both for the first two; `ladder` compares all three unless told."""
    methods: str | None = None
    """Only these methods, such as diprl,pi-prl."""
    tasks: str | None = None
    """Only these tasks, such as CartPole-v1,Acrobot-v1."""
    seeds: str | None = None
    """Training seeds, such as 123,321,456 (the paper's, and the default) or 0:10."""
    out: Path = Path("results")
    """Where records, tables and figures are kept."""

    @property
    def presets(self) -> tuple[str, ...]:
        return ("default", "paper") if self.preset == "both" else (self.preset or "default",)

    @property
    def folder(self) -> Path:
        return self.out / "quick" if self.quick else self.out

    def command(self, suite: str) -> str:
        """The command that makes the page of an experiment again from its records."""
        arguments = ["diprl", "reproduce", suite]
        for item in fields(Request):
            value = getattr(self, item.name)
            if value is True:
                arguments.append(f"--{item.name}")
            elif value != item.default:
                arguments += [f"--{item.name}", str(value)]
        return shlex.join([*arguments, "--executor", "none"])


def parse_names(text: str | None) -> tuple[str, ...]:
    """The entries of a list with commas.

    >>> parse_names("diprl, ppo")
    ('diprl', 'ppo')
    """
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def parse_seeds(text: str) -> list[int]:
    """`123,321,456` or `0:10` as a list of seeds.

    >>> parse_seeds("1,5:8")
    [1, 5, 6, 7]
    """
    seeds: list[int] = []
    try:
        for part in text.split(","):
            first, _, last = part.partition(":")
            seeds += range(int(first), int(last)) if last else [int(first)]
    except ValueError as error:
        raise DiprlError(f"--seeds must look like 123,321,456 or 0:10, not {text!r}") from error
    if not seeds or len(set(seeds)) != len(seeds) or min(seeds) < 0:
        raise DiprlError(f"--seeds must name distinct non-negative numbers, not {text!r}")
    return seeds
