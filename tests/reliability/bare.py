"""Runs commands in a process where no optional package can be imported: python -m tests.reliability.bare FOLDER."""

import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

OPTIONAL = (
    "Box2D", "minigrid", "mujoco", "envpool", "sklearn", "z3", "yaml", "jinja2", "matplotlib", "PIL", "onnx",
    "tensorboardX", "ray", "pygame", "imageio_ffmpeg",
)  # fmt: skip
PROGRAM = "task: CartPole-v1\nfeatures: a, b, c, d\nactions: left, right\nif a > 0: left\nelse: right\n"
SMALL = ["--total-timesteps", "100", "--out"]


def commands(folder: Path) -> dict[str, list[str]]:
    """For each extra a command that cannot do without it."""
    program, spec, run = str(folder / "program.txt"), str(folder / "spec.yaml"), str(folder / "run")
    return {
        "box2d": ["train", "LunarLander-v3", *SMALL, run],
        "minigrid": ["train", "DoorKey-6x6", *SMALL, run],
        "mujoco": ["train", "Pusher2D", *SMALL, run],
        "viper": ["train", "CartPole-v1", "--method", "viper", *SMALL, run],
        "tensorboard": ["train", "CartPole-v1", "--tensorboard", *SMALL, run],
        "verify": ["verify", program, spec],
        "report": ["report", program],
        "onnx": ["export", program, "--to", "onnx", "--out", str(folder / "onnx")],
        "video": ["watch", program, "--record", str(folder / "film.gif")],
    }


def outcome(arguments: list[str]) -> tuple[int, str]:
    """Exit code and standard error of a command."""
    from diprl.cli import main

    errors = StringIO()
    with redirect_stderr(errors), redirect_stdout(StringIO()):
        try:
            main(arguments)
        except SystemExit as stopped:
            return int(stopped.code or 0), errors.getvalue()
    return 0, errors.getvalue()


if __name__ == "__main__":
    for name in OPTIONAL:
        sys.modules[name] = None  # type: ignore[assignment]
    place = Path(sys.argv[1])
    (place / "program.txt").write_text(PROGRAM)
    (place / "spec.yaml").write_text("properties:\n  - kind: branches\n")
    print(json.dumps({extra: outcome(arguments) for extra, arguments in commands(place).items()}))
