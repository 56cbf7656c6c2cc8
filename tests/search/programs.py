"""Programs for CartPole whose scores are known."""

from diprl.program import Program, parse
from diprl.tasks.registry import load_task

CART_POLE = load_task("CartPole-v1")


def cart_pole(text: str) -> Program:
    program = parse(text, CART_POLE.signature)
    return Program(program.signature, program.root, CART_POLE.name)


BALANCING = cart_pole("if 3*pole_angle + pole_angular_velocity > 0:\n    right\nelse:\n    left")
"""Scores 500 always."""
FALLING = cart_pole("if pole_angle + 0.02*pole_angular_velocity > 0.01:\n    right\nelse:\n    left")
"""Scores far below 500, with the right idea."""
WORDY = cart_pole(
    "if 3*pole_angle + pole_angular_velocity + 0.0001*cart_position > 0:\n    right\n"
    "elif 3*pole_angle + pole_angular_velocity > 0.5:\n    left\n"
    "elif cart_velocity - 40 > 0:\n    right\nelse:\n    left"
)
"""Balances with two branches more than it needs: one dead, one that never acts."""
