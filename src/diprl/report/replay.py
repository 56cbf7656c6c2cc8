"""One episode to step through: pictures, branches and the value of every condition at every step."""

import base64
import io
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby, islice, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.arena.episodes import VISITS
from diprl.errors import DiprlError
from diprl.program import Condition, Program
from diprl.program.ast import conditions
from diprl.program.evaluate import linear_batch
from diprl.report.draw import Markup, element, svg
from diprl.report.episode import Moment, open_environment, play_moments, play_pictures, steps_per_second
from diprl.report.listing import Line
from diprl.tasks.base import Task

MOST_STEPS, MOST_PICTURES, WIDTH = 1000, 150, 320
MOST_TRACES = 100
"""Nobody can follow the values of more conditions, and the page would be too large."""


@dataclass(frozen=True)
class Replay:
    """An episode as numbers and, where the environment can be drawn, as pictures."""

    seed: int
    moments: tuple[Moment, ...]
    values: NDArray[np.float64]
    """(conditions, steps), without any condition of a program that has too many"""
    stride: int
    """Steps from one picture to the next."""
    pictures: tuple[str, ...] = ()
    """Data addresses of images; empty where nothing can be drawn."""
    speed: float = 30.0
    """Steps per second."""
    why_no_pictures: str = ""

    def to_page(self) -> dict[str, Any]:
        """What the page's script reads."""
        return {
            "stride": self.stride,
            "speed": self.speed,
            "pictures": self.pictures,
            "branch": [moment.branch for moment in self.moments],
            "total": [_brief(moment.total) for moment in self.moments],
            "ended": self.moments[-1].ended,
            "features": [[_brief(value) for value in moment.features] for moment in self.moments],
            "values": [[_brief(value) for value in row] for row in self.values],
        }


def record_replay(task: Task, program: Program, seed: int = VISITS.seed) -> Replay:
    """Play one episode, then once more for its pictures where they can be drawn."""
    with closing(task.reference()) as environment:
        moments = tuple(islice(play_moments(task, program, environment, seed), MOST_STEPS))
    columns = np.array([moment.features for moment in moments]).T
    values = [linear_batch(each.weights, each.bias, columns) for each in traced(program)]
    table = np.array(values).reshape(len(values), len(moments))
    stride = -(-len(moments) // MOST_PICTURES)
    try:
        return Replay(seed, moments, table, stride, *draw_pictures(task, program, seed, stride))
    except DiprlError as error:
        return Replay(seed, moments, table, stride, why_no_pictures=str(error))


def traced(program: Program) -> list[Condition]:
    """The conditions whose values the page shows."""
    return conditions(program.root) if program.conditions <= MOST_TRACES else []


def draw_pictures(task: Task, program: Program, seed: int, stride: int) -> tuple[tuple[str, ...], float]:
    """A small image for every so many steps of an episode, and how many steps to show per second."""
    with closing(open_environment(task, "rgb_array")) as environment:
        drawn = play_pictures(task, program, environment, seed, stride, WIDTH)
        images = (image for _, _, image in takewhile(lambda each: each[0] < MOST_STEPS, drawn))
        return tuple(map(data_address, images)), steps_per_second(environment)


def data_address(image: Any) -> str:
    """A Pillow image inside its own address, small enough for a page to hold a hundred."""
    stream = io.BytesIO()
    image.save(stream, "WEBP", quality=60, method=4)
    return "data:image/webp;base64," + base64.b64encode(stream.getvalue()).decode()


def timeline(replay: Replay, branches: Sequence[Line]) -> Markup:
    """Which branch acted when, as a coloured strip."""
    parts, start = [], 0
    for number, run in groupby(moment.branch for moment in replay.moments):
        length = len(list(run))
        parts.append(element("rect", x=start, y=0, width=length, height=10, fill=branches[number].colour))
        start += length
    return svg(parts, "Active branch over time", start, 10, preserveAspectRatio="none")


def sparkline(values: NDArray[np.float64], height: float = 34.0) -> Markup:
    """The value of one condition over the episode, around zero."""
    limit = float(np.quantile(np.abs(values), 0.99)) or 1.0
    middle = height / 2
    heights = middle - middle * np.clip(values / limit, -1, 1) * 0.94
    steps = range(0, len(values), max(1, len(values) // 400))
    line = "M" + "L".join(f"{step} {heights[step]:.1f}" for step in steps)
    last = max(len(values) - 1, 1)
    zero = element("path", class_="zero", d=f"M0 {middle}H{last}")
    parts = [zero, element("path", class_="spark", d=line)]
    return svg(parts, "Value over time", last, height, preserveAspectRatio="none")


def _brief(value: float) -> float | None:
    """Few digits, since the page shows few; None for what JSON cannot say."""
    return float(f"{value:.5g}") if np.isfinite(value) else None
