"""The walk of one `diprl train`: the files it enters, in order, are those that CONTRIBUTING lists."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
ACTING = {"cli", "methods", "runs", "train", "arena", "search", "extract.py"}
"""The rooms that decide what happens next; the others hold what these work with."""
RECORDS = {
    *("runs/spec.py", "runs/session.py", "runs/stage.py", "runs/result.py"),
    *("train/settings.py", "arena/episodes.py", "arena/score.py"),
}
"""The records of a run and other plain ones, which every room passes around."""
TRACE = """
import sys
from pathlib import Path
import diprl
from diprl.cli.main import main

SOURCE = str(Path(diprl.__file__).parent) + "/"
OPTIONS = "--num-envs 8 --num-steps 16 --minibatch-size 64 --total-timesteps 1024 --members 1 --raw --episodes 3"

def train(out):
    try:
        main(["train", "CartPole-v1", *OPTIONS.split(), "--out", out])
    except SystemExit as ended:
        assert not ended.code

def watch(frame, event, _):
    name = frame.f_code.co_filename
    if event == "call" and name.startswith(SOURCE) and name not in entered:
        entered.append(name)

train(sys.argv[1] + "/compiled")  # afterwards the training step runs without Python
entered = []
sys.setprofile(watch)
train(sys.argv[1] + "/traced")
sys.setprofile(None)
print("ENTERED", *(name.removeprefix(SOURCE) for name in entered))
"""


def listed() -> list[str]:
    """The files of the walk in CONTRIBUTING, in order."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## How a run passes through the code")[2]
    return re.findall(r"^\d+\. `([\w/]+\.py)`", text.partition("\n## ")[0], re.MULTILINE)


def test_a_run_walks_through_the_files_that_are_listed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TRACE, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    entered = done.stdout.rpartition("ENTERED")[2].split()
    walk = [name for name in entered if name.split("/")[0] in ACTING and name not in RECORDS]
    assert walk == listed()
    assert len(walk) <= 15
