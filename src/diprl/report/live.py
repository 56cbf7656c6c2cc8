"""What makes a page live: the language and the twins in JavaScript, put together without a build step."""

from diprl.report.draw import Markup, asset

TWINS = (
    "CartPole-v1", "Acrobot-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1",
    "DoorKey-5x5", "DoorKey-6x6", "DoorKey-8x8",
)  # fmt: skip
"""The tasks that a page can play by itself."""
SIMULATOR = (
    "twins/random", "twins/cartpole", "twins/acrobot", "twins/mountain_car", "twins/pendulum", "twins/doorkey",
    "twins/table", "page/score",
)  # fmt: skip


def simulator() -> Markup:
    """The twins and what plays them."""
    return Markup("\n".join(asset(f"{name}.js") for name in SIMULATOR))
