"""The result of a run: `result.json`, the record of an experiment, and what `print(model)` reads."""

import platform
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diprl.arena.score import Gap, Score, as_number
from diprl.errors import DiprlError
from diprl.program import Program
from diprl.runs.spec import RunSpec
from diprl.search.front import Front
from diprl.system.device import device_name
from diprl.train.settings import Settings

if TYPE_CHECKING:
    from diprl.runs.stage import Trained

PACKAGES = ("diprl", "jax", "jaxlib", "numpy", "gymnasium", "minigrid", "mujoco", "envpool", "scikit-learn")

PLAIN = ("ended", "chosen", "stages", "curve", "versions", "device", "command", "wall_seconds")
"""What stands in a file as it is."""

Curve = Mapping[str, list[float | None]]
"""A few figures of the training by name, as many values as `steps` has."""


@dataclass(frozen=True)
class Result:
    """What a run gave, how well it does, and what it took."""

    spec: RunSpec
    program: Program | None
    """What the run hands over; None for a network."""
    score: Score
    steps: Mapping[str, int]
    """Environment steps by what they were taken for."""
    gap: Gap | None = None
    front: Front | None = None
    """Programs of many sizes, the one handed over among them."""
    ended: str = ""
    """Why the run ended before its budget was used up, where it did."""
    chosen: Mapping[str, Any] = field(default_factory=dict)
    """Settings that the run has chosen by trying several."""
    stages: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Summaries of scores on the way, where a method has several stages."""
    extracted: Program | None = None
    """The program as it was extracted, where it was changed afterwards."""
    curve: Curve = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    device: str = ""
    command: str = ""
    wall_seconds: float = 0.0
    trained: "Trained | None" = field(default=None, compare=False, repr=False)
    """The agent behind it, in memory only."""

    @property
    def total_steps(self) -> int:
        return sum(self.steps.values())

    def to_json(self) -> dict[str, Any]:
        program = self.program
        return {
            **self.spec.to_json(),
            "program": str(program) if program else None,
            **{size: getattr(program, size, None) for size in ("depth", "conditions", "coefficients")},
            "score": self.score.to_json(),
            "steps": self.total_steps,
            "steps_by_purpose": dict(self.steps),
            "gap": self.gap.to_json() if self.gap else None,
            "front": self.front.to_json() if self.front else None,
            "extracted_program": str(self.extracted) if self.extracted else None,
            **{name: getattr(self, name) for name in PLAIN},
        }

    @staticmethod
    def from_json(content: Mapping[str, Any]) -> "Result":
        program, extracted = content["program"], content["extracted_program"]
        return Result(
            spec=RunSpec.from_json(content),
            program=Program.from_text(program) if program else None,
            score=Score.from_json(content["score"]),
            steps={name: int(as_number(steps)) for name, steps in content["steps_by_purpose"].items()},
            gap=Gap.from_json(content["gap"]) if content["gap"] else None,
            front=Front.from_json(content["front"]) if content.get("front") else None,
            ended=str(content.get("ended", "")),
            chosen=known_settings(content.get("chosen", {})),
            stages={name: dict(summary) for name, summary in content["stages"].items()},
            extracted=Program.from_text(extracted) if extracted else None,
            curve=dict(content["curve"]),
            versions={str(name): str(number) for name, number in content["versions"].items()},
            device=str(content["device"]),
            command=str(content["command"]),
            wall_seconds=as_number(content["wall_seconds"]),
        )

    @staticmethod
    def read(content: Mapping[str, Any], place: str) -> "Result":
        """The result in a file, or one sentence on why it is none."""
        try:
            return Result.from_json(content)
        except DiprlError as error:
            raise DiprlError(f"{place}: {error}") from error
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise DiprlError(f"{place}: not the result of a run ({error!r:.200})") from error


def known_settings(content: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in a file, each with a value that it may have."""
    Settings().with_values(**content)
    return dict(content)


def provenance() -> dict[str, Any]:
    """With what, where and by which command a result was made."""
    return {"versions": versions(), "device": device_name(), "command": command()}


def versions() -> dict[str, str]:
    """Python and the packages that are installed here."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def changed_versions(before: Any) -> str:
    """In words, what is installed otherwise than when a run began; empty where nothing is."""
    now, before = versions(), before if isinstance(before, dict) else {}
    changes = [
        f"{name} was {before.get(name, 'missing')!s:.40} and is {now.get(name, 'missing')}"
        for name in sorted({*now, *before} & {"python", *PACKAGES})
        if before and before.get(name) != now.get(name)
    ]
    return ", ".join(changes)


def command() -> str:
    """The command line, as a reader would repeat it: folders of this machine mean nothing elsewhere."""
    script = Path(sys.argv[0]).name
    given = [Path(each).name if Path(each).is_absolute() else each for each in sys.argv[1:]]
    return shlex.join(["diprl" if script == "__main__.py" else script, *given])
