"""A process that trains for real and dies at its n-th checkpoint: python -m tests.experiment.train_and_die FOLDER N."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from diprl.experiment.executors import execute
from diprl.experiment.grid import Grid, work_through
from diprl.runs import trainer
from tests.experiment.fixtures import make_run


def training_grid(folder: Path) -> Grid:
    return Grid(folder, (make_run("pi-prl", "MountainCar-v0", 5),))


def die_at_checkpoint(number: int) -> None:
    """Die with the metrics written and the checkpoint not, the worst moment there is."""
    save, left = trainer.save_tree, [number]

    def save_or_die(path: Path, tree: Any, facts: dict[str, Any]) -> None:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        save(path, tree, facts)

    trainer.save_tree = save_or_die


if __name__ == "__main__":
    die_at_checkpoint(int(sys.argv[2]))
    work_through(training_grid(Path(sys.argv[1])), execute, lambda _: None)
