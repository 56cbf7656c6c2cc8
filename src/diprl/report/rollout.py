"""One episode to scrub through: pictures, branches and the value of every condition at every step."""

import base64
import io
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.arena.episodes import VISITS
from diprl.errors import DiprlError
from diprl.program import Program
from diprl.program.ast import conditions
from diprl.program.evaluate import linear_batch
from diprl.report.draw import svg
from diprl.report.listing import Branch
from diprl.tasks.base import Task
from diprl.watch import Moment, open_environment, play_moments
from diprl.watch.film import import_pillow, scaled
from diprl.watch.screen import picture, steps_per_second

MOST_STEPS, MOST_PICTURES, WIDTH = 1000, 150, 320


@dataclass(frozen=True)
class Rollout:
    """An episode as numbers and, where the environment can be drawn, as pictures."""

    seed: int
    moments: tuple[Moment, ...]
    values: NDArray[np.float64]
    """(conditions, steps)"""
    pictures: tuple[str, ...]
    """Data addresses of images, one for every `stride` steps; empty where nothing can be drawn."""
    stride: int
    pace: float
    """Steps per second."""
    why_no_pictures: str = ""

    def to_page(self) -> dict[str, Any]:
        """What the page's script reads."""
        return {
            "stride": self.stride,
            "pace": self.pace,
            "pictures": self.pictures,
            "branch": [moment.branch for moment in self.moments],
            "total": [_brief(moment.total) for moment in self.moments],
            "ended": self.moments[-1].ended,
            "features": [[_brief(value) for value in moment.features] for moment in self.moments],
            "values": [[_brief(value) for value in row] for row in self.values],
        }


def record_rollout(task: Task, program: Program, seed: int = VISITS.seed) -> Rollout:
    """Play one episode, then once more for its pictures where they can be had."""
    with closing(task.reference()) as environment:
        moments = tuple(islice(play_moments(task, program, environment, seed), MOST_STEPS))
    columns = np.array([moment.features for moment in moments]).T
    values = [linear_batch(each.weights, each.bias, columns) for each in conditions(program.root)]
    table = np.array(values).reshape(len(values), len(moments))
    stride = max(1, -(-len(moments) // MOST_PICTURES))
    try:
        pictures, pace = draw_pictures(task, program, seed, stride)
    except DiprlError as error:
        return Rollout(seed, moments, table, (), stride, 30.0, str(error))
    return Rollout(seed, moments, table, pictures, stride, pace)


def draw_pictures(task: Task, program: Program, seed: int, stride: int) -> tuple[tuple[str, ...], float]:
    """A small image for every so many steps of an episode, and the pace to show them at."""
    import_pillow()
    with closing(open_environment(task, "rgb_array")) as environment:
        moments = islice(play_moments(task, program, environment, seed), MOST_STEPS)
        drawn = [data_address(picture(environment, task.name)) for _ in islice(moments, None, None, stride)]
        return tuple(drawn), steps_per_second(environment)


def data_address(pixels: NDArray[np.uint8]) -> str:
    """A picture inside its own address, small enough for a page to hold a hundred."""
    stream = io.BytesIO()
    scaled(pixels, WIDTH).save(stream, "WEBP", quality=60, method=4)
    return "data:image/webp;base64," + base64.b64encode(stream.getvalue()).decode()


def timeline(rollout: Rollout, branches: Sequence[Branch]) -> str:
    """Which branch acted when, as a coloured strip."""
    parts, start = [], 0
    for number, run in groupby(moment.branch for moment in rollout.moments):
        length = len(list(run))
        colour = branches[number].colour
        parts.append(f'<rect x="{start}" y="0" width="{length}" height="10" style="fill:{colour}"/>')
        start += length
    return svg(parts, "Active branch over time", start, 10).replace(
        "<svg", '<svg preserveAspectRatio="none"', 1
    )


def sparkline(values: NDArray[np.float64], height: float = 34.0) -> str:
    """The value of one condition over the episode, around the threshold."""
    limit = float(np.quantile(np.abs(values), 0.99)) or 1.0
    stride = max(1, len(values) // 400)
    middle = height / 2
    points = [
        (step, middle - middle * float(np.clip(values[step] / limit, -1, 1)) * 0.94)
        for step in range(0, len(values), stride)
    ]
    line = "M" + "L".join(f"{step} {place:.1f}" for step, place in points)
    last = max(len(values) - 1, 1)
    parts = [f'<path class="zero" d="M0 {middle}H{last}"/>', f'<path class="spark" d="{line}"/>']
    drawn = svg(parts, "Value over time", last, height)
    return drawn.replace("<svg", '<svg preserveAspectRatio="none"', 1)


def _brief(value: float) -> float | None:
    """Few digits, since the page shows few; None for what JSON cannot say."""
    return float(f"{value:.5g}") if np.isfinite(value) else None
