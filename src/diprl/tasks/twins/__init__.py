"""Environments written again in JAX, so that a whole training compiles, and the tasks that have such a twin."""
