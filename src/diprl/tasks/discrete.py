"""The tasks whose actions are a finite choice: classic control, DoorKey and LunarLander."""

from dataclasses import replace
from typing import Any

from diprl.tasks.base import Task, Twin
from diprl.tasks.gymnasium_task import registered_task


def cart_pole() -> Task:
    """Keep a pole upright on a cart."""
    return replace(registered_task("CartPole-v1"), twin=_cart_pole_twin, budget=2_000_000, paper_score=500.0)


def _cart_pole_twin() -> Twin:
    from diprl.tasks.classic import CartPole

    return CartPole()


def acrobot() -> Task:
    """Swing two hanging links up by a motor at the joint between them."""
    return replace(registered_task("Acrobot-v1"), twin=_acrobot_twin, budget=2_000_000, paper_score=-79.93)


def _acrobot_twin() -> Twin:
    from diprl.tasks.classic import Acrobot

    return Acrobot()


def mountain_car() -> Task:
    """Drive out of a valley that is too steep for the engine alone."""
    return replace(
        registered_task("MountainCar-v0"),
        twin=_mountain_car_twin,
        potential=_mountain_car_potential,
        budget=2_000_000,
        paper_score=-110.79,
    )


def _mountain_car_twin() -> Twin:
    from diprl.tasks.classic import MountainCar

    return MountainCar()


def _mountain_car_potential(views: Any) -> Any:
    from diprl.tasks.classic import mountain_car_potential

    return mountain_car_potential(views)


def lunar_lander() -> Task:
    """Land between two flags with three engines."""
    return replace(
        registered_task("LunarLander-v3"), envpool="LunarLander-v3", budget=4_000_000, paper_score=260.21
    )
