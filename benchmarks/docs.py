"""Makes what the documentation shows: the runs in `examples/runs` and the pictures in `docs/images`.

    python benchmarks/docs.py              # pictures
    python benchmarks/docs.py --runs       # trains the runs again first (a minute)

Afterwards, UPDATE_DOCS=1 pytest tests/docs/test_blocks.py writes what commands print into the pages.
The pictures need pip install 'diprl[tasks,report,video]'; that of the report also needs Chromium.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
EXAMPLES = ROOT / "examples"
RUNS = {
    "CartPole-v1/diprl-default-seed0": "train CartPole-v1",
    "CartPole-v1/ppo-default-seed0": "train CartPole-v1 --method ppo",
    "MountainCar-v0/diprl-default-seed0": "train MountainCar-v0",
    "Tank": "train tank.toml --out run",
}
LANDER = ROOT / "results" / "improved" / "LunarLander-v3-seed123-shorter.txt"
COLOURS = {"noop": "#6b7280", "left_engine": "#b45309", "main_engine": "#b91c1c", "right_engine": "#1d4ed8"}


def diprl(arguments: str, folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "diprl", *arguments.split()], cwd=folder, check=True)


def train_runs() -> None:
    """Every run of the pages at its full budget; nothing of this machine stays in it."""
    for place, command in RUNS.items():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for file in ("tank.py", "tank.toml"):
                shutil.copy(EXAMPLES / file, folder)
            diprl(command, folder)
            made = folder / "run" if "--out" in command else folder / "runs" / place
            (made / ".lock").unlink(missing_ok=True)
            if place == "Tank":
                (made / "model").unlink()  # its header names the folder, and no page needs it
                for path in made.glob("*.json"):
                    here = json.dumps(str(folder.resolve()))
                    path.write_text(path.read_text().replace(f'"folder": {here}', '"folder": "."'))
            shutil.rmtree(EXAMPLES / "runs" / place, ignore_errors=True)
            shutil.copytree(made, EXAMPLES / "runs" / place)


def landing(seed: int) -> tuple[list[np.ndarray], list[int], list[int]]:
    """Pictures of one episode, the branch that acts in each, and the action."""
    import gymnasium as gym

    from diprl import Program

    program = Program.load(LANDER)
    environment = gym.make("LunarLander-v3", render_mode="rgb_array")
    seen, ended = environment.reset(seed=seed)[0], False
    pictures, branches, actions = [], [], []
    while not ended:
        pictures.append(environment.render())
        branches.append(int(program.branch_batch([seen])[0]))
        actions.append(int(program.act(seen)))
        seen, _, terminated, truncated, _ = environment.step(actions[-1])
        ended = terminated or truncated
    environment.close()
    return pictures, branches, actions


def draw_readme(seed: int = 7) -> None:
    """The program above, a landing below: each picture has the colour of the action it shows."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    names = list(COLOURS)
    body = LANDER.read_text().partition("\n\n")[2].rstrip()
    pictures, _, actions = landing(seed)
    lines = wrapped(body)
    height = 1.15 + 0.215 * len(lines)
    figure = plt.figure(figsize=(7.4, height), dpi=150, facecolor="white")
    for number, line in enumerate(lines):
        colour = COLOURS.get(line.strip(), "#111827")
        weight = "bold" if line.strip() in COLOURS else "normal"
        place = (0.02, 1.0 - (0.2 + 0.215 * number) / height)
        figure.text(*place, line, family="monospace", size=9, color=colour, weight=weight)
    seen: list[int] = []
    for number, part in enumerate(np.array_split(np.arange(10, 9 * len(actions) // 10), 6)):
        index = min(part, key=lambda step: (seen.count(actions[step]), actions.count(actions[step])))
        seen.append(actions[index])  # so that every action is shown
        axes = figure.add_axes((0.02 + 0.162 * number, 0.04 / height, 0.154, 0.88 / height))
        axes.imshow(pictures[index])
        axes.set_xticks([])
        axes.set_yticks([])
        for side in axes.spines.values():
            side.set_color(COLOURS[names[actions[index]]])
            side.set_linewidth(3)
        title = names[actions[index]]
        axes.set_title(title, size=7.5, color=COLOURS[names[actions[index]]], family="monospace")
    figure.savefig(IMAGES / "readme.png")


def wrapped(body: str, width: int = 66) -> list[str]:
    """Lines of the program, long ones broken before a term."""
    lines = []
    for line in body.splitlines():
        rest = line
        while len(rest) > width:
            cut = max(rest.rfind(sign, 0, width) for sign in (" + ", " - "))
            lines.append(rest[:cut])
            rest = "        " + rest[cut:].strip()
        lines.append(rest)
    return lines


def photograph_report() -> None:
    """The tank's report, as a browser shows it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("tank.py", "tank.toml"):
            shutil.copy(EXAMPLES / file, folder)
        shutil.copytree(EXAMPLES / "runs" / "Tank", folder / "run")
        diprl("report run --task tank.toml", folder)
        page = (folder / "run" / "report.html").resolve().as_uri()
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1100,900"]
        subprocess.run(["chromium", *options, f"--screenshot={IMAGES / 'report-tank.png'}", page], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", action="store_true", help="train the runs again")
    if parser.parse_args().runs:
        train_runs()
    draw_readme()
    if shutil.which("chromium"):
        photograph_report()


if __name__ == "__main__":
    main()
