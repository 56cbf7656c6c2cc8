"""Shapes of arrays are checked while the tests run: jaxtyping reads the annotations, beartype compares."""

from beartype import BeartypeConf, beartype

checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
"""As type checkers do, an int passes for a float."""
CHECKER = "tests.shapes.checked"
TRAINING = ["loss", "dual", "minibatches", "trajectory", "rollout", "parameters", "noise", "schedule", "engine"]
MODULES = ["diprl.policy", "diprl.extract", "diprl.arena.twin", *(f"diprl.train.{name}" for name in TRAINING)]
"""What computes with arrays."""
