"""What makes a page live: the language and the twins in JavaScript, put together without a build step."""

import tomllib
from collections.abc import Sequence
from typing import Any

import numpy as np

from diprl.arena.episodes import EVALUATION
from diprl.export.js import language
from diprl.program import Program
from diprl.report.charts import FRAME, extent
from diprl.report.draw import Markup, asset
from diprl.report.episode import Replay, short_floats
from diprl.report.visits import Visits
from diprl.tasks.base import Task

SCRIPTS: dict[str, list[str]] = tomllib.loads(asset("scripts.toml"))
TWINS = tuple(SCRIPTS["twins"])
"""The tasks that a page can play by itself."""
MOST_STATES = 300
"""Visited states that the page knows."""
IN_PAGE = "Played in this page from the same seeds as diprl eval, with the same returns."
ELSEWHERE = "This page cannot play the task by itself: diprl studio scores edits of it."


def simulator() -> Markup:
    """The twins and what plays them."""
    return _together(SCRIPTS["simulator"])


def page_script(*more: str) -> Markup:
    """The one script of a page; `more` files come before its last."""
    parts = [language(), simulator(), _together((*SCRIPTS["page"], *more, "page/main"))]
    return Markup("\n".join(['"use strict";', "(() => {", *parts, "})();"]))


def _together(names: Sequence[str]) -> Markup:
    return Markup("\n".join(asset(f"{name}.js") for name in names))


def twin_of(task: Task) -> str | None:
    """The twin in JavaScript that plays exactly this task, where there is one."""
    changed = getattr(task.reference, "env_kwargs", None) or getattr(task.reference, "functions", None)
    return task.name if task.name in TWINS and not changed else None


def live_data(
    program: Program, visits: Visits, replay: Replay, chosen: Sequence[int], twin: str | None
) -> dict[str, Any]:
    """What the page's script reads."""
    spread = np.std(visits.features, axis=0)
    return {
        "text": str(program),
        "task": program.task,
        "twin": twin,
        "seed": replay.seed,
        "evaluation": EVALUATION.seed,
        "words": IN_PAGE if twin else ELSEWHERE,
        "plane": [(index, *extent(program, visits, index)) for index in chosen],
        "frame": FRAME,
        "medians": visits.medians(),
        "scales": np.where(spread > 0.0, spread, 1.0).tolist(),
        "states": short_floats(visits.features[:: -(-len(visits.features) // MOST_STATES)]),
        **({} if twin else replay.to_page()),
    }
