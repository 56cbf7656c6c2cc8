"""Settings by method, preset and task. They lie in data files, each with where its values come from.

`settings/METHOD/PRESET/base.toml` holds for every task, and `TASK.toml` beside it is added for one task. A task without
one gets those of its kind: `primitives.toml` where programs put primitives together; elsewhere `untuned.toml`, and
`continuous.toml` or `categories.toml` where its actions are numbers or its features are values of something. A file may
begin from the settings of another method (`base = "diprl"`) or from the defaults alone (`base = "none"`).
"""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from diprl.errors import DiprlError, check_known
from diprl.program.names import category
from diprl.program.signature import Primitives
from diprl.tasks.base import Task
from diprl.train.settings import Settings

FOLDER = Path(__file__).parent / "settings"
PRESETS = ("default", "paper", "release")
WORTH_TRYING = 200_000
"""The smallest budget of which a part goes to trying settings."""
ROLLOUTS, FEWEST_ENVS = 300, 8
"""A small budget has fewer environments, so that there are about as many rollouts to learn from."""
FAR = 10
"""How many episodes one that looks far ahead sees: it discounts by 1 − 1 / (FAR · horizon) per step."""
DIRECTIONS = {"max_depth": 1, "directions": 8, "learning_rate": 0.03, "deviation": 0.05}
"""One affine controller, found without gradients."""


def settings_for(method: str, preset: str, task: Task, **given: Any) -> Settings:
    """A preset's settings for a task, with the user's changes; a task that nobody has tuned gets its own by rule."""
    chosen = preset_settings(method, preset, task.name, task.budget)
    others = () if method == "diprl" else (folder.name for folder in FOLDER.iterdir())
    if preset == "default" and not any(read_file(each, preset, task.name) for each in (method, *others)):
        budget = given.get("total_timesteps", task.budget)
        values = untuned(task, budget if isinstance(budget, int) else task.budget)
        if method != "diprl":
            values.pop("learning_rate", None)  # each method's own suits its kind of policy
        chosen = chosen.with_values(**values)
        if given.keys() & {"members", *(name for choice in candidates(task) for name in choice)}:
            chosen = chosen.with_values(candidates=1)  # what the user decides is not tried out
    return changed(chosen, **given)


def candidates(task: Task, endless: bool = True) -> list[dict[str, Any]]:
    """Changes of settings that a run tries where nobody has tuned them; the first changes nothing.

    Two others are tried if episodes are `endless`, as long as the horizon allows: to look far ahead, and to learn
    without gradients. Where falling ends an episode, both learn to stand still.
    """
    far = {"gamma": round(1.0 - 1.0 / (FAR * task.horizon), 6)}
    return [{}, far, DIRECTIONS] if task.continuous and endless else [{}]


def untuned(task: Task, budget: int) -> dict[str, Any]:
    """Settings by rule, from what is known before training: the kind of features and actions, and the budget."""
    kinds, categories = ["untuned"], all(map(category, task.signature.feature_names))
    if isinstance(task.signature.actions, Primitives):
        kinds = ["primitives"]
    else:
        kinds += ["continuous"] * task.continuous + ["categories"] * categories
    fitting = budget // ROLLOUTS // Settings().ppo.num_steps
    num_envs = min(max(1 << max(0, fitting.bit_length() - 1), FEWEST_ENVS), Settings().ppo.num_envs)
    minibatch_size = min(num_envs * Settings().ppo.num_steps // 8, Settings().ppo.minibatch_size)
    tried = len(candidates(task)) if budget >= WORTH_TRYING else 1
    values: dict[str, Any] = {"num_envs": num_envs, "minibatch_size": minibatch_size, "candidates": tried}
    for kind in kinds:
        values |= read_file("diprl", "default", kind)["settings"]
    return values


def preset_settings(method: str, preset: str, task: str, budget: int) -> Settings:
    """The settings of a preset for a task by name, with the task's own budget unless a tuned one is enough."""
    check_known("preset", PRESETS, preset)
    if not has_preset(method, preset):
        raise DiprlError(f"the preset {preset} has no settings for {method}: take one of {', '.join(PRESETS[:2])}")
    return Settings().with_values(**{"total_timesteps": budget} | preset_values(method, preset, task))


def has_preset(method: str, preset: str) -> bool:
    return (FOLDER / method / preset).is_dir()


def preset_values(method: str, preset: str, task: str) -> dict[str, Any]:
    """What the data files say, the general before the particular."""
    values: dict[str, Any] = {}
    for name in ("base", task):
        content = read_file(method, preset, name)
        if "base" in content:
            other = content["base"]
            values = {} if other == "none" else preset_values(other, preset, task)
        values |= content.get("settings", {})
        for setting, least in content.get("at_least", {}).items():
            values[setting] = max(values.get(setting, Settings().values()[setting]), least)
    return values


@cache
def read_file(method: str, preset: str, name: str) -> dict[str, Any]:
    """A data file; empty where there is none."""
    path = FOLDER / method / preset / f"{name}.toml"
    if "/" in name or not path.is_file():
        return {}
    return tomllib.loads(path.read_text(encoding="utf-8"))


def changed(settings: Settings, **given: Any) -> Settings:
    """Settings with the user's changes. A smaller budget has room for fewer members: each keeps the steps it had."""
    budget, members = given.get("total_timesteps"), settings.program.members
    if isinstance(budget, int) and "members" not in given:
        fitting = members * budget // settings.ppo.total_timesteps
        given["members"] = max(1, min(members, fitting))
    return settings.with_values(**given)
