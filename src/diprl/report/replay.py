"""One episode to step through: what the program sees at every step, and pictures."""

import base64
import io
from contextlib import closing
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.arena.episodes import VISITS
from diprl.errors import DiprlError
from diprl.program import Program
from diprl.report.episode import Moment, open_environment, play_moments, play_pictures, steps_per_second
from diprl.tasks.base import Task

MOST_STEPS, MOST_PICTURES, WIDTH = 1000, 150, 320


@dataclass(frozen=True)
class Replay:
    """An episode as numbers and, where the environment can be drawn, as pictures."""

    seed: int
    moments: tuple[Moment, ...]
    stride: int = 1
    """Steps from one picture to the next."""
    pictures: tuple[str, ...] = ()
    """Data addresses of images; empty where nothing can be drawn."""
    speed: float = 30.0
    """Steps per second."""
    why_no_pictures: str = ""

    def to_page(self) -> dict[str, Any]:
        """What the page's script reads."""
        rows = short_floats(np.array([moment.features for moment in self.moments]))
        return {
            "moments": [[row, round(moment.total, 4)] for row, moment in zip(rows, self.moments, strict=True)],
            "ended": self.moments[-1].ended,
            "stride": self.stride,
            "speed": self.speed,
            "pictures": self.pictures,
        }


def record_replay(task: Task, program: Program, seed: int = VISITS.seed, pictures: bool = True) -> Replay:
    """Play one episode, then once more for its pictures where they are wanted and can be drawn."""
    with closing(task.reference()) as environment:
        moments = tuple(islice(play_moments(task, program, environment, seed), MOST_STEPS))
    if not pictures:
        return Replay(seed, moments)
    stride = -(-len(moments) // MOST_PICTURES)
    try:
        return Replay(seed, moments, stride, *draw_pictures(task, program, seed, stride))
    except DiprlError as error:
        return Replay(seed, moments, stride, why_no_pictures=str(error))


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


def short_floats(rows: NDArray[Any]) -> list[list[float]]:
    """Numbers of 32 bits with the fewest digits that give them back; what is not finite becomes zero."""
    finite = np.nan_to_num(np.asarray(rows, np.float32), nan=0.0, posinf=0.0, neginf=0.0)
    return [[float(str(value)) for value in row] for row in finite]
