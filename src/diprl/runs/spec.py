"""The description of a run: the plan of a command, the config of a folder, the key of a record, what resume reads."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from diprl.errors import DiprlError
from diprl.tasks.origin import Origin, named_by_user, refuse_module
from diprl.train.settings import Settings, check_seed

SCHEMA = 2
ADDED_LATER = {
    "choose_primitives": False,
    "feature_entropy": 0.0,
    "enough_features": 0.0,
    "support_at": 0.5,
    "smallest_share": 0.05,
    "max_numbers": 0,
    "max_conditions": 0,
    "idle_turns": True,
    "mix_logits": False,
    "terminal_spread": 0.1,
    "keep_action_weights": False,
    "dual_epsilon": 1e-5,
    "quiet": False,
    "candidates": 1,
    "directions": 0,
    "statistics_until": 1.0,
    "leaf_balance": 0.0,
    "leaf_difference": 1.0,
    "thin_share": 0.0,
}
"""Settings that the first records do not know, each with the value that those were made with."""
WITHOUT = {
    "feature_entropy": ("enough_features", "support_at", "smallest_share"),
    "normalise": ("statistics_until",),
    "polish_share": ("thin_share",),
}
"""Settings that decide nothing where another one is off."""
LARGEST_EPISODES = 1_000_000
TEXTS = ("task", "method", "preset", "variant")
PLAIN = (*TEXTS, "seed", "episodes")
"""What stands in a file as it is."""


@dataclass(frozen=True)
class RunSpec:
    """All that decides what a run gives, and nothing else."""

    task: str
    method: str = "diprl"
    settings: Settings = field(default_factory=Settings)
    seed: int = 0
    episodes: int = 100
    """Episodes that the final score is measured on."""
    preset: str = "default"
    """Where the settings come from; a label only."""
    variant: str = ""
    """Which setting of an ablation, or empty; a label only."""
    env_kwargs: Mapping[str, Any] = field(default_factory=dict)
    """Keyword arguments of the environment."""
    feature_names: tuple[str, ...] = ()
    action_names: tuple[str, ...] = ()
    """The user's own names, where given."""
    origin: Origin | None = None
    """Where the environment comes from, unless the task's name says that."""

    def __post_init__(self) -> None:
        check_seed(self.seed)
        whole = isinstance(self.episodes, int) and not isinstance(self.episodes, bool)
        if not whole or not 1 <= self.episodes <= LARGEST_EPISODES:
            raise DiprlError(f"episodes must be at least 1 and at most {LARGEST_EPISODES}, not {self.episodes!r:.40}")

    @property
    def key(self) -> str:
        """A name that is the same for the same run and for no other."""
        given, added = self.settings.values(), ADDED_LATER.items()
        idle = [name for switch, names in WITHOUT.items() if not given[switch] for name in names]
        values = {name: value for name, value in given.items() if (name, value) not in added and name not in idle}
        decisive: list[Any] = [self.task, self.method, values, self.seed, self.episodes]
        decisive += [dict(self.env_kwargs)] if self.env_kwargs else []
        decisive += [self.origin.source, dict(self.origin.described)] if self.origin else []
        digest = hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()
        return f"{self.task}/{self.method}/seed{self.seed}/{digest[:16]}"

    @property
    def slug(self) -> str:
        """The key as a file name."""
        return self.key.replace("/", "_").replace(":", "_")

    @property
    def title(self) -> str:
        labels = [self.method, self.task, self.preset, self.variant, f"seed {self.seed}"]
        return ", ".join(label for label in labels if label)

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "key": self.key,
            **{name: getattr(self, name) for name in PLAIN},
            "env_kwargs": dict(self.env_kwargs),
            "feature_names": list(self.feature_names),
            "action_names": list(self.action_names),
            "settings": self.settings.values(),
            **({"origin": self.origin.to_json()} if self.origin else {}),
        }

    @staticmethod
    def from_json(content: Mapping[str, Any]) -> "RunSpec":
        """The description in a file; raises an error that names what is wrong with it."""
        if content.get("schema") != SCHEMA:
            found = f"{content.get('schema')!r:.40}"
            raise DiprlError(f"written by another version of diprl (schema {found}, this one reads {SCHEMA})")
        for name in TEXTS:
            if not isinstance(content.get(name), str):
                raise DiprlError(f"{name} must be text, not {content.get(name)!r:.40}")
        for name in ("settings", "env_kwargs"):
            if not isinstance(content.get(name), dict):
                raise DiprlError(f"{name} must be an object")
        for name in ("feature_names", "action_names"):
            names = content.get(name)
            if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
                raise DiprlError(f"{name} must be a list of names")
        return RunSpec(
            **{name: content.get(name) for name in PLAIN},  # type: ignore[arg-type]  # checked here and when made
            settings=Settings().with_values(**content["settings"]),
            env_kwargs=content["env_kwargs"],
            feature_names=tuple(content["feature_names"]),
            action_names=tuple(content["action_names"]),
            origin=Origin.from_json(content["origin"]) if "origin" in content else None,
        )

    def source(self, named: Any = None) -> Any:
        """What to load the task from: what the user names now, else what the run was trained on.

        What its task file said holds for the same environment in another place too.
        """
        if named is None:
            return self.origin or Origin(refuse_module(self.task))
        if not isinstance(named, str):
            return named
        found = named_by_user(named)
        same = self.origin if self.origin and self.origin.source == found.source else None
        return replace(found, described=same.described) if same and not found.described else found
