"""Watch a program play: in a window, or as a film that needs no screen (GIF with Pillow, MP4 with ffmpeg)."""

from collections import deque
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from diprl.errors import DiprlError, optional
from diprl.export.svg import FEW_DIGITS, leaf_colours
from diprl.program import Program
from diprl.program.ast import terminals
from diprl.program.text_format import format_terminal
from diprl.report.episode import Moment, open_environment, play_moments, play_pictures, steps_per_second
from diprl.system.files import check_target, write_whole
from diprl.tasks.base import Task

FPS, WIDTH = 25.0, 480
"""At most so many pictures per second of the environment's time, and pixels across."""
CAPTION_HEIGHT = 26
HOLD = 12
"""How many pictures the final state is shown for."""


def show(task: Task, program: Program, seeds: range) -> list[float]:
    """Play one episode per seed in a window, at the environment's own speed; gives their returns."""
    with closing(open_environment(task, "human")) as environment:
        return [deque(play_moments(task, program, environment, seed), 1)[0].total for seed in seeds]


def record(task: Task, program: Program, path: Path, seeds: range) -> list[float]:
    """Write one episode per seed into one film, at the environment's own speed; gives their returns."""
    write = {".gif": write_gif, ".mp4": write_mp4}.get(path.suffix.lower())
    if write is None:
        raise DiprlError(f"{path}: a film is a .gif or an .mp4 file")
    check_target(path)
    returns: list[float] = []
    with closing(open_environment(task, "rgb_array")) as environment, TemporaryDirectory() as folder:
        speed, captions = steps_per_second(environment), branch_captions(program)
        stride = max(1, round(speed / FPS))

        def images() -> Iterator[Any]:
            for seed in seeds:
                for step, moment, image in play_pictures(task, program, environment, seed, stride, WIDTH):
                    captioned = with_caption(image, moment, step, captions[moment.branch])
                    yield from [captioned] * (HOLD if moment.ended else 1)
                returns.append(moment.total)

        draft = Path(folder) / path.name
        try:
            write(draft, images(), speed / stride)
            write_whole(path, draft.read_bytes())
        except OSError as error:
            raise DiprlError(f"{path} cannot be written: {error}") from error
    return returns


def branch_captions(program: Program) -> list[tuple[str, str]]:
    """The colour of each branch, and what it does."""
    colours, captions = leaf_colours(program), []
    for number, leaf in enumerate(terminals(program.root), 1):
        does = "; ".join(format_terminal(leaf, program.signature, FEW_DIGITS))
        captions.append((colours[leaf], f"{number}: {does}"))
    return captions


def with_caption(image: Any, moment: Moment, step: int, caption: tuple[str, str]) -> Any:
    """The picture over a line that says what the active branch does, in the colour of its action."""
    from PIL import Image, ImageDraw, ImageFont

    (width, height), font = image.size, ImageFont.load_default(13)
    captioned = Image.new("RGB", (width, height + CAPTION_HEIGHT), "#101418")
    captioned.paste(image, (0, 0))
    draw = ImageDraw.Draw(captioned)
    draw.rectangle((0, height, 6, height + CAPTION_HEIGHT), fill=caption[0])
    numbers = f"step {step}   return {moment.total:.4g}"
    text = moment.ended or caption[1]
    room = width - 24 - draw.textlength(numbers, font=font)
    while text and draw.textlength(text, font=font) > room:
        text = text[:-2].rstrip("…") + "…" if len(text) > 2 else ""
    middle = height + CAPTION_HEIGHT // 2
    draw.text((14, middle), text, fill="#f0f3f6", font=font, anchor="lm")
    draw.text((width - 8, middle), numbers, fill="#9aa4ad", font=font, anchor="rm")
    return captioned


def write_gif(path: Path, images: Iterator[Any], fps: float) -> None:
    first = next(images)
    first.save(path, save_all=True, append_images=images, duration=round(1000 / fps), loop=0, optimize=False)


def write_mp4(path: Path, images: Iterator[Any], fps: float) -> None:
    ffmpeg = optional("imageio_ffmpeg", "MP4 needs imageio-ffmpeg: pip install imageio-ffmpeg, or record a .gif")
    first, options = next(images), {"macro_block_size": 2, "ffmpeg_log_level": "error"}
    writer = ffmpeg.write_frames(str(path), first.size, fps=max(1, round(fps)), **options)
    writer.send(None)
    for image in chain([first], images):
        writer.send(image.tobytes())
    writer.close()
