"""Reinforcement-learning policies that are programs."""

__version__ = "0.1.0"
