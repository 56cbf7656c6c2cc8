"""Twin tasks are the tasks that Gymnasium describes, without importing it."""

import subprocess
import sys

import pytest

from diprl.errors import DiprlError
from diprl.tasks.doorkey_reference import make_door_key
from diprl.tasks.gymnasium_task import gymnasium_task, registered_task
from diprl.tasks.registry import TASKS
from diprl.tasks.twin_tasks import DOOR_KEY_SIZES, TWIN_TASKS, twin_task

CONTROL = [name for name in TWIN_TASKS if not name.startswith("DoorKey")]


@pytest.mark.parametrize("name", CONTROL)
def test_a_control_task_is_what_gymnasium_says(name: str) -> None:
    light, made = twin_task(name), registered_task(name)
    assert (light.signature, light.horizon, light.layout) == (made.signature, made.horizon, made.layout)


@pytest.mark.parametrize("size", DOOR_KEY_SIZES)
def test_a_door_key_task_is_what_minigrid_says(size: int) -> None:
    light, made = twin_task(f"DoorKey-{size}x{size}"), gymnasium_task(lambda **_: make_door_key(size))
    assert (light.horizon, light.layout) == (made.horizon, made.layout)
    assert len(light.signature.actions.names) == len(made.signature.actions.names)


@pytest.mark.parametrize("name", TWIN_TASKS)
def test_the_registry_holds_the_same_task(name: str) -> None:
    light, full = twin_task(name), TASKS[name]()
    assert (light.signature, light.budget, light.paper_score) == (
        full.signature,
        full.budget,
        full.paper_score,
    )
    assert light.twin is not None
    assert light.twin().horizon == light.horizon == full.horizon
    assert (light.potential is None) == (full.potential is None)
    with pytest.raises(DiprlError, match="no reference environment"):
        light.reference()


def test_training_on_twins_imports_no_gymnasium() -> None:
    script = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "from diprl.tasks.twin_tasks import TWIN_TASKS, twin_task\n"
        "from diprl.methods.registry import METHODS\n"
        "import diprl.experiment.vmap, diprl.experiment.suites\n"
        "[twin_task(name) for name in TWIN_TASKS]\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
