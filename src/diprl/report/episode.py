"""A program at play: one episode step by step, with pictures where they can be drawn, and the states it visits."""

import base64
import io
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice, takewhile
from typing import Any, NamedTuple
from warnings import catch_warnings, simplefilter

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from diprl.arena.episodes import VISITS
from diprl.arena.reference import program_act, visited_views
from diprl.errors import DiprlError, check_known
from diprl.program import Program
from diprl.program.ast import terminals
from diprl.system.device import draw_without_screen, has_screen
from diprl.tasks.base import Task
from diprl.tasks.mujoco.engine import load_solver_first

MOST_STEPS, MOST_PICTURES, WIDTH = 1000, 150, 320


class Moment(NamedTuple):
    """A state, and what the program does there."""

    features: NDArray[np.float64]
    branch: int
    """The leaf that decides, in the order in which leaves are printed."""
    total: float
    """The return so far."""
    ended: str
    """`terminated` or `truncated` in the final state, where no action is taken; empty before."""


def play_moments(task: Task, program: Program, environment: gym.Env[Any, Any], seed: int) -> Iterator[Moment]:
    """Play one episode. Each moment comes before its action is taken, so the caller can draw the state."""
    act, count = program_act(task, program), len(program.signature.features)
    observation, _ = environment.reset(seed=seed)
    total, ended = 0.0, ""
    while True:
        view = task.view(np.asarray(observation)[None])
        features = view[:, :count].astype(np.float64)
        yield Moment(features[0], int(program.branch_batch(features)[0]), total, ended)
        if ended:
            return
        observation, reward, terminated, truncated, _ = environment.step(act(view)[0])
        total += float(reward)
        ended = "terminated" if terminated else "truncated" if truncated else ""


def prepare_rendering() -> None:
    """Choose to draw off-screen where there is no screen. Call it before MuJoCo or pygame is imported."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    if not has_screen():
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
    draw_without_screen()
    load_solver_first()


def open_environment(task: Task, mode: str) -> gym.Env[Any, Any]:
    """A reference environment that draws itself: `rgb_array` gives pictures, `human` opens a window."""
    if mode == "human" and not has_screen():
        raise DiprlError("there is no screen here to open a window on: record with --record FILE.gif instead")
    if mode == "rgb_array" and find_spec("PIL") is None:
        raise DiprlError("pictures need Pillow: install it with: pip install 'diprl[video]'")
    prepare_rendering()
    return task.reference(render_mode=mode)


def play_pictures(
    task: Task, program: Program, environment: gym.Env[Any, Any], seed: int, stride: int, width: int
) -> Iterator[tuple[int, Moment, Any]]:
    """Play one episode; every so many steps and at its end give the step, the moment and a Pillow image."""
    for step, moment in enumerate(play_moments(task, program, environment, seed)):
        if step % stride == 0 or moment.ended:
            yield step, moment, scaled(picture(environment, task.name), width)


def picture(environment: gym.Env[Any, Any], name: str) -> NDArray[np.uint8]:
    """What the environment looks like now."""
    try:
        with catch_warnings():
            simplefilter("ignore", DeprecationWarning)
            drawn = environment.render()
    except gym.error.DependencyNotInstalled as error:
        raise DiprlError(f"{name} cannot be drawn: install it with: pip install 'diprl[video]'") from error
    except Exception as error:
        raise DiprlError(f"{name} cannot be drawn here: {error}") from error
    if not isinstance(drawn, np.ndarray) or drawn.ndim != 3:
        raise DiprlError(f"{name} does not draw itself: it returns no picture for render_mode 'rgb_array'")
    return drawn


def steps_per_second(environment: gym.Env[Any, Any]) -> float:
    """The speed at which the environment is meant to be watched."""
    return float(environment.metadata.get("render_fps") or 30.0)


def scaled(pixels: NDArray[np.uint8], width: int) -> Any:
    """A Pillow image of at most the given width, with even sides as films need them."""
    from PIL import Image

    image = Image.fromarray(pixels).convert("RGB")
    width = min(width, image.width) // 2 * 2
    height = round(image.height * width / image.width) // 2 * 2
    return image.resize((width, height), Image.Resampling.LANCZOS) if image.size != (width, height) else image


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


@dataclass(frozen=True)
class Visits:
    """States of some episodes, and which branch the program took there."""

    features: NDArray[np.float64]
    """(states, features)"""
    branches: NDArray[np.int64]

    def medians(self) -> list[float]:
        return np.median(self.features, axis=0).tolist()


def visit(task: Task, program: Program, episodes: int) -> Visits:
    """Play some episodes that no score is taken from."""
    features = visited_views(task, program, episodes)[:, : len(program.signature.features)].astype(np.float64)
    return Visits(features, program.branch_batch(features))


def influence(program: Program, visits: Visits, seed: int = 0) -> list[float]:
    """For each feature, the share of visited states where another state's value of it changes the action."""
    generator = np.random.default_rng(seed)
    numbers: dict[object, int] = {}
    actions = np.array([numbers.setdefault(leaf, len(numbers)) for leaf in terminals(program.root)])
    changed = []
    for feature in range(visits.features.shape[1]):
        shuffled = visits.features.copy()
        shuffled[:, feature] = generator.permutation(shuffled[:, feature])
        changed.append(float(np.mean(actions[program.branch_batch(shuffled)] != actions[visits.branches])))
    return changed


def choose_features(program: Program, names: str | None, importance: list[float]) -> list[int]:
    """The one or two features to draw over: those that are named, else those that matter most."""
    known = program.signature.feature_names
    if names is None:
        return sorted(range(len(known)), key=lambda index: -importance[index])[:2]
    wanted = [name.strip() for name in names.split(",")]
    check_known("feature", known, *wanted)
    if not 1 <= len(set(wanted)) == len(wanted) <= 2:
        raise DiprlError(f"--features takes one or two different features, not {names!r}")
    return [known.index(name) for name in wanted]
