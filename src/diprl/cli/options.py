"""Options that several commands share."""

import json
from dataclasses import dataclass
from typing import Any

from diprl.errors import DiprlError


@dataclass(frozen=True)
class EnvironmentOptions:
    """Which environment."""

    env_kwargs: str = "{}"
    """Keyword arguments of the environment, as a JSON object."""

    def parsed(self) -> dict[str, Any]:
        try:
            values = json.loads(self.env_kwargs)
        except ValueError as error:
            raise DiprlError(f"--env-kwargs must be a JSON object, not {self.env_kwargs!r}") from error
        if not isinstance(values, dict):
            raise DiprlError(f"--env-kwargs must be a JSON object, not {self.env_kwargs!r}")
        return values


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
