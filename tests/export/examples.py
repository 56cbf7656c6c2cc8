"""Programs that a person would write, and a small network, shared by the tests of exports."""

from itertools import pairwise

import numpy as np

from diprl.export import Network
from diprl.program import Program, parse

CHAIN = parse(
    """
task: CartPole-v1
features: cart_position [m] in [-4.8, 4.8], int [m/s], pole_angle [rad], pole_angular_velocity [rad/s]
actions: left, right

if 3*pole_angle + pole_angular_velocity > 0.1:
    right
elif -0.25*cart_position - 1e-5*int > 0:
    right
else:
    left
"""
)

NESTED = parse(
    """
task: Pendulum & more_1
features: x: "cosine of the angle", y in [-1, 1], angular_velocity [rad/s] in [-8, 8]
outputs: torque [N m] in [-2, 2], brake

if x > 0.5:
    if angular_velocity < 0:
        torque = -10*y - 2.5*angular_velocity
        brake = 0
    else:
        torque = 1
        brake = x - y
else:
    torque = 2*angular_velocity
    brake = 0.125
"""
)

BLEND = parse(
    """
task: Ant
features: goal_x, goal_y
primitives: up, left
actuators: [-1, 1], [-0.5, 0.5], [-1, 1]

if goal_x > goal_y:
    up
else:
    0.3*up + 0.7*left
"""
)

SETS = parse(
    """
task: Lake
features: state_is_0, state_is_1, state_is_2, state_is_10, wind [m/s] in [-2, 2]
actions: wait, row

if state in {1, 10}:
    row
elif 2*state_is_2 + wind > 0.5:
    wait
elif state not in {0, 2}:
    wait
else:
    row
"""
)

EXAMPLES: tuple[Program, ...] = (CHAIN, NESTED, BLEND, SETS)


def network(name: str, seed: int) -> Network:
    """Five senses, two hidden layers, three actuators."""
    generator = np.random.default_rng(seed)
    widths = (5, 7, 6, 3)
    layers = tuple(
        (generator.normal(size=(inputs, outputs)), generator.normal(size=outputs))
        for inputs, outputs in pairwise(widths)
    )
    mean, std = generator.normal(size=5), generator.uniform(0.5, 2.0, 5)
    return Network(name, mean, std, layers, np.array([-1.0, -np.inf, -0.5]), np.array([1.0, np.inf, 0.5]))


NETWORKS = (network("left", 1), network("up", 2))
