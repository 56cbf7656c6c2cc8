"""Films of rollouts: GIF with Pillow, MP4 with imageio-ffmpeg; pictures are written as they are drawn."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.export.svg import leaf_colours
from diprl.program import Program
from diprl.program.ast import terminals
from diprl.program.text_format import format_terminal
from diprl.tasks.base import Task
from diprl.watch.episode import Moment, play_moments
from diprl.watch.screen import open_environment, picture, steps_per_second

CAPTION_HEIGHT = 26
HOLD = 12
"""How many pictures the final state is shown for."""


def record(
    task: Task, program: Program, path: Path, *, seeds: range, fps: float = 25.0, width: int = 480
) -> list[float]:
    """Write the episodes of some seeds as one film at the environment's own pace; returns what they earned."""
    write = {".gif": write_gif, ".mp4": write_mp4}.get(path.suffix.lower())
    if write is None:
        raise DiprlError(f"{path}: a film is a .gif or an .mp4 file")
    import_pillow()
    environment = open_environment(task, "rgb_array")
    try:
        pace = steps_per_second(environment)
        stride = max(1, round(pace / fps))
        returns: list[float] = []
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, film(task, program, environment, seeds, stride, width, returns), pace / stride)
    except OSError as error:
        raise DiprlError(f"{path} cannot be written: {error}") from error
    finally:
        environment.close()
    return returns


def film(
    task: Task,
    program: Program,
    environment: Any,
    seeds: range,
    stride: int,
    width: int,
    returns: list[float],
) -> Iterator[Any]:
    """Every so many steps a picture with its caption; what each episode earned is added to `returns`."""
    captions = Captions(program)
    for seed in seeds:
        total = 0.0
        for step, moment in enumerate(play_moments(task, program, environment, seed)):
            total = moment.total
            if step % stride == 0 or moment.ended:
                shown = captions.add(scaled(picture(environment, task.name), width), moment, step)
                yield from [shown] * (HOLD if moment.ended else 1)
        returns.append(total)


class Captions:
    """A line under each picture that says which branch acts, in the colour of its action."""

    def __init__(self, program: Program) -> None:
        from PIL import ImageFont

        leaves = terminals(program.root)
        colours = leaf_colours(program)
        self.texts = ["; ".join(format_terminal(leaf, program.signature)) for leaf in leaves]
        self.colours = [colours[leaf] for leaf in leaves]
        self.font = ImageFont.load_default(13)

    def add(self, image: Any, moment: Moment, step: int) -> Any:
        from PIL import Image, ImageDraw

        width, height = image.size
        page = Image.new("RGB", (width, height + CAPTION_HEIGHT), "#101418")
        page.paste(image, (0, 0))
        draw = ImageDraw.Draw(page)
        draw.rectangle((0, height, 6, height + CAPTION_HEIGHT), fill=self.colours[moment.branch])
        said = moment.ended or f"{moment.branch + 1}: {self.texts[moment.branch]}"
        middle = height + CAPTION_HEIGHT // 2
        numbers = f"step {step}   return {moment.total:.4g}"
        room = width - 24 - draw.textlength(numbers, font=self.font)
        while said and draw.textlength(said, font=self.font) > room:
            said = said[:-2].rstrip("…") + "…" if len(said) > 2 else ""
        draw.text((14, middle), said, fill="#f0f3f6", font=self.font, anchor="lm")
        draw.text((width - 8, middle), numbers, fill="#9aa4ad", font=self.font, anchor="rm")
        return page


def scaled(pixels: NDArray[np.uint8], width: int) -> Any:
    """A picture of the given width, never enlarged, with even sides as films need them."""
    from PIL import Image

    image = Image.fromarray(pixels).convert("RGB")
    width = min(width, image.width) // 2 * 2
    height = round(image.height * width / image.width) // 2 * 2
    return image.resize((width, height), Image.Resampling.LANCZOS) if image.size != (width, height) else image


def write_gif(path: Path, pictures: Iterator[Any], fps: float) -> None:
    first = next(pictures)
    first.save(
        path,
        save_all=True,
        append_images=pictures,
        duration=round(1000 / fps),
        loop=0,
        optimize=False,
    )


def write_mp4(path: Path, pictures: Iterator[Any], fps: float) -> None:
    try:
        from imageio_ffmpeg import write_frames  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise DiprlError("MP4 needs imageio-ffmpeg: pip install imageio-ffmpeg, or record a .gif") from error
    first = next(pictures)
    writer = write_frames(
        str(path), first.size, fps=max(1, round(fps)), macro_block_size=2, ffmpeg_log_level="error"
    )
    writer.send(None)
    writer.send(first.tobytes())
    for image in pictures:
        writer.send(image.tobytes())
    writer.close()


def import_pillow() -> Any:
    """Pillow, or a sentence that says how to get it."""
    try:
        import PIL
    except ImportError as error:
        raise DiprlError("pictures need Pillow: install it with: pip install 'diprl[video]'") from error
    return PIL
