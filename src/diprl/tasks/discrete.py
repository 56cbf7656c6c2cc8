"""The tasks whose actions are a finite choice: classic control, DoorKey and LunarLander."""

from dataclasses import replace
from functools import partial

from diprl.tasks.base import Task
from diprl.tasks.doorkey_reference import make_door_key
from diprl.tasks.gymnasium_task import gymnasium_task, registered_task
from diprl.tasks.twin_tasks import twin_task


def cart_pole() -> Task:
    """Keep a pole upright on a cart."""
    return trained_on_twin(registered_task("CartPole-v1"))


def acrobot() -> Task:
    """Swing two hanging links up by a motor at the joint between them."""
    return trained_on_twin(registered_task("Acrobot-v1"))


def mountain_car() -> Task:
    """Drive out of a valley that is too steep for the engine alone."""
    return trained_on_twin(registered_task("MountainCar-v0"))


def door_key(size: int) -> Task:
    """Fetch the key, unlock the door, reach the goal in a room of size × size cells, walls included."""
    return trained_on_twin(gymnasium_task(partial(make_door_key, size), f"DoorKey-{size}x{size}"))


def lunar_lander() -> Task:
    """Land between two flags with three engines."""
    return replace(registered_task("LunarLander-v3"), envpool="LunarLander-v3", budget=4_000_000, paper_score=260.21)


def trained_on_twin(reference: Task) -> Task:
    """The task of the same name that trains on its twin, scored on this reference environment."""
    return replace(twin_task(reference.name), reference=reference.reference, view=reference.view)
