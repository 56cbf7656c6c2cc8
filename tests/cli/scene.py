"""A folder as users have them: runs in every state, programs, specifications, files of their own."""

import json
from pathlib import Path

from diprl.runs.folder import CONFIG, PROGRAM_JSON, RESULT
from diprl.system.files import write_json
from tests.report.run_folders import PROGRAM, header, write_run

TEXTS = {
    "and.txt": "if pole_angle > 0 and cart_velocity > 0:\n    right\nelse:\n    left\n",
    "or.txt": "if pole_angle > 0 or cart_velocity > 0:\n    right\nelse:\n    left\n",
    "between.txt": "if 0 < pole_angle < 1:\n    right\nelse:\n    left\n",
    "misspelt.txt": "if pole_angel > 0:\n    right\nelse:\n    left\n",
    "equal.txt": "if pole_angle >= 0:\n    right\nelse:\n    left\n",
    "half.txt": "if pole_angle > 0:\n    right\n",
    "product.txt": "if pole_angle*cart_velocity > 0:\n    right\nelse:\n    left\n",
    "bad.json": "{",
    "other.yaml": "task: MountainCar-v0\nbox:\n  position: [-1, 0]\nproperties:\n  - {kind: never, action: left}\n",
    "kind.yaml": "properties:\n  - {kind: nevr, action: left}\n",
    "feature.yaml": "properties:\n  - kind: never\n    action: left\n    when: [pole_angel > 0]\n",
    "simplified.json": "the user's own",
    "export/cartpole_v1.c": "the user's own",
    "runs/broken/config.json": "{",
    "empty/notes.txt": "nothing",
}


def write_scene(folder: Path) -> Path:
    """Everything by short names, without training."""
    runs = folder / "runs"
    write_run(runs / "a")
    write_run(runs / "b", seed=1)
    write_network(runs / "net")
    (runs / "half").mkdir()
    write_json(runs / "half" / CONFIG, header(2))
    PROGRAM.save(runs / "half" / "program.txt")
    PROGRAM.save(folder / "p.txt")
    for name, text in TEXTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def write_network(folder: Path) -> None:
    """A finished run of PPO, which has no program."""
    write_run(folder, seed=3)
    (folder / PROGRAM_JSON).unlink()
    for name in (CONFIG, RESULT):
        content = json.loads((folder / name).read_text())
        changed = {"method": "ppo", "program": None, "depth": None, "conditions": None, "coefficients": None}
        write_json(folder / name, content | {key: value for key, value in changed.items() if key in content})
