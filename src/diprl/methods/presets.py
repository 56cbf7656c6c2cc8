"""Settings by method, preset and task. They lie in data files, each with where its values come from.

`settings/METHOD/PRESET/base.toml` holds for every task, and `TASK.toml` beside it is added for one task. A file may
begin from the settings of another method (`base = "diprl"`) or from the defaults alone (`base = "none"`).
"""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from diprl.errors import DiprlError, unknown
from diprl.tasks.base import Task
from diprl.train.settings import Settings

FOLDER = Path(__file__).parent / "settings"
PRESETS = ("default", "paper", "release")


def settings_for(method: str, preset: str, task: Task, **given: Any) -> Settings:
    """A preset's settings for a task, with the user's changes.

    Continuous actions that nobody has tuned for explore as such actions should.
    """
    chosen = preset_settings(method, preset, task.name, task.budget)
    if preset == "default" and task.continuous and not read_file("diprl", preset, task.name):
        chosen = chosen.with_values(**read_file("diprl", preset, "continuous")["settings"])
    return changed(chosen, **given)


def preset_settings(method: str, preset: str, task: str, budget: int) -> Settings:
    """The settings of a preset for a task by name, with the task's own budget unless a tuned one is enough."""
    if preset not in PRESETS:
        raise unknown("preset", preset, PRESETS)
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
