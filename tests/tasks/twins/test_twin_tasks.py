"""Twin tasks are the tasks that Gymnasium describes, without importing it."""

import subprocess
import sys

import pytest

from diprl.tasks.gym.doorkey import make_door_key
from diprl.tasks.gym.task import gymnasium_task, registered_task
from diprl.tasks.registry import TASKS
from diprl.tasks.twins.table import DOOR_KEY_SIZES, TWIN_TASKS

CONTROL = [name for name in TWIN_TASKS if not name.startswith("DoorKey")]


@pytest.mark.parametrize("name", CONTROL)
def test_a_control_task_is_what_gymnasium_says(name: str) -> None:
    light, made = TWIN_TASKS[name], registered_task(name)
    assert (light.signature, light.horizon, light.layout) == (made.signature, made.horizon, made.layout)


@pytest.mark.parametrize("size", DOOR_KEY_SIZES)
def test_a_door_key_task_is_what_minigrid_says(size: int) -> None:
    light, made = TWIN_TASKS[f"DoorKey-{size}x{size}"], gymnasium_task(lambda **_: make_door_key(size))
    assert (light.horizon, light.layout) == (made.horizon, made.layout)
    assert len(light.signature.actions.names) == len(made.signature.actions.names)


@pytest.mark.parametrize("name", TWIN_TASKS)
def test_the_registry_holds_the_same_task(name: str) -> None:
    task = TWIN_TASKS[name]
    assert TASKS[name]() is task
    assert task.twin is not None
    assert task.twin().horizon == task.horizon
    assert (task.potential is not None) == (name == "MountainCar-v0")


def test_training_on_twins_imports_no_gymnasium() -> None:
    script = (
        "import sys; sys.modules['gymnasium'] = None\n"
        "from diprl.errors import DiprlError\n"
        "from diprl.tasks.twins.table import TWIN_TASKS\n"
        "from diprl.methods.registry import METHODS\n"
        "import diprl.experiment.vmap, diprl.experiment.suites\n"
        "try:\n"
        "    TWIN_TASKS['CartPole-v1'].reference()\n"
        "except DiprlError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout == "CartPole-v1 is scored in Gymnasium: install it with: pip install gymnasium\n"
