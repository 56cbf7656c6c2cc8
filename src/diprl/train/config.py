"""Every setting of a training run in one record: the command line, the run's config file and the record's header."""

from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import Any, NamedTuple

from diprl.errors import DiprlError, unknown


class Hyper(NamedTuple):
    """Settings that compiled code receives as numbers, so that one compilation serves every value of them."""

    learning_rate: Any
    learning_rate_end: Any
    clip_range: Any
    clip_range_end: Any
    entropy_coefficient: Any
    entropy_coefficient_end: Any
    gamma: Any
    gae_lambda: Any
    value_coefficient: Any
    max_grad_norm: Any
    alpha: Any
    alpha_ramp: Any
    alpha_dual: Any
    target_entropy: Any
    architecture_from: Any
    architecture_to: Any
    architecture_temperature_end: Any
    condition_temperature: Any
    condition_temperature_end: Any
    harden_from: Any
    harden_to: Any
    terminal_temperature: Any
    terminal_temperature_end: Any
    settle_from: Any
    settle_temperature: Any
    settle_terminals: Any


@dataclass(frozen=True)
class Config:
    """Settings of the PPO engine and of the relaxed program. Fractions are of the whole run."""

    total_timesteps: int = 2_000_000
    """Environment steps to train for, rounded up to whole rollouts."""
    num_envs: int = 32
    """Environments stepped together."""
    num_steps: int = 128
    """Steps of each environment between updates."""
    minibatch_size: int = 256
    """Transitions per gradient step."""
    num_epochs: int = 10
    """Passes over each rollout."""
    hidden_size: int = 64
    """Width of the two hidden layers of the critic, and of the policy in neural PPO."""
    members: int = 1
    """Independent trainings that share the budget; the program that validates best stays."""
    polish_share: float = 0.2
    """Share of the budget kept for searching over the discrete program on its true return; 0 leaves that out."""
    max_depth: int = 6
    """Longest program: an if/elif/else chain of this many actions."""
    architecture_period: int = 0
    """0 trains architecture and program together; n gives the first of every n rollouts to the architecture alone."""
    normalise: bool = True
    """Normalise features while training; extraction folds this away."""
    scale_rewards: bool = False
    """Divide rewards by a running deviation of returns (for continuous control)."""
    deviation: float = 0.6
    """Standard deviation of continuous actions at the start: of half their range, of the motors' units for blends."""
    choose_primitives: bool = False
    """Terminals choose one primitive instead of blending all, where primitives are of no use when blended."""
    noise_correlation: float = 0.0
    """How much the random numbers of a step resemble those of the step before, falling to 0 by half of the run."""

    learning_rate: float = 1e-2
    learning_rate_end: float = 0.0
    """Adam's step size falls linearly from the first to the second."""
    clip_range: float = 0.2
    clip_range_end: float = 0.0
    """PPO's clipping of the probability ratio, likewise."""
    entropy_coefficient: float = 0.01
    entropy_coefficient_end: float = 0.0
    """Weight of the bonus for random actions, likewise."""
    gamma: float = 0.99
    """Discount per step."""
    gae_lambda: float = 0.95
    """Trace decay of the advantage estimate."""
    value_coefficient: float = 0.5
    """Weight of the critic's loss."""
    max_grad_norm: float = 0.5
    """Gradients are scaled down to this global norm."""

    alpha: float = 0.0
    """Fixed weight of the architecture entropy."""
    alpha_ramp: float = 1.0
    """Weight of the architecture entropy at the end of its ramp, which grows quadratically."""
    alpha_dual: float = 0.0
    """Learning rate of the paper's automatic weight (dual ascent on log α); 0 turns it off."""
    target_entropy: float = 0.1
    """The dual's target, as a fraction of the largest architecture entropy."""
    architecture_from: float = 0.1
    architecture_to: float = 0.6
    """When the ramp of α begins and ends."""
    architecture_temperature_end: float = 0.02
    """Temperature of the stop/continue choices at the end; it falls from 1 after the ramp."""
    condition_temperature: float = 1.0
    condition_temperature_end: float = 0.05
    """Softness of the conditions, falling geometrically over the hardening span."""
    harden_from: float = 0.2
    harden_to: float = 0.8
    """The hardening span."""
    terminal_temperature: float = 0.25
    terminal_temperature_end: float = 0.25
    """Softness of the terminals, over the same span."""
    settle_from: float = 0.85
    settle_temperature: float = 0.02
    """From here on conditions sharpen further, by this factor at the end: any run ends discrete."""
    settle_terminals: float = 0.02
    """The same factor for terminals; 1 lets blends of primitives remain blends."""

    def __post_init__(self) -> None:
        for field in fields(self):
            check_value(field.name, field.type, getattr(self, field.name))
        if self.rollout_size > LARGEST_ROLLOUT:
            raise DiprlError(
                f"the rollout of num_envs × num_steps = {self.rollout_size} is larger than {LARGEST_ROLLOUT}"
            )
        if self.minibatch_size > self.rollout_size:
            raise DiprlError(
                f"minibatch_size {self.minibatch_size} is larger than the rollout of "
                f"num_envs × num_steps = {self.rollout_size}: lower it or collect more"
            )
        if self.rollout_size % self.minibatch_size:
            raise DiprlError(
                f"minibatch_size {self.minibatch_size} does not divide the rollout of {self.rollout_size} steps"
            )

    @property
    def rollout_size(self) -> int:
        return self.num_envs * self.num_steps

    @property
    def num_minibatches(self) -> int:
        return self.rollout_size // self.minibatch_size

    @property
    def num_rollouts(self) -> int:
        return -(-self.total_timesteps // self.rollout_size)

    def hyper(self) -> Hyper:
        """The traced part, as 32-bit numbers."""
        import numpy as np

        return Hyper(*(np.float32(getattr(self, name)) for name in Hyper._fields))

    def static(self) -> "Config":
        """This config with every traced setting at its default: equal for runs that share one compilation.

        Of the dual it keeps whether there is one, since a run without it compiles to less work.
        """
        traced = {
            name: getattr(Config, name)
            for name in (*Hyper._fields, "total_timesteps", "members", "polish_share")
        }
        return replace(self, **traced | {"alpha_dual": float(self.alpha_dual > 0)})

    def with_values(self, **values: Any) -> "Config":
        """A copy with some settings changed; a misspelt one answers with the nearest names.

        A smaller budget has room for fewer members: each keeps the steps it had, unless their number is given.
        """
        budget = values.get("total_timesteps")
        if isinstance(budget, int) and "members" not in values:
            values["members"] = max(1, min(self.members, self.members * budget // self.total_timesteps))
        known = {field.name for field in fields(self)}
        for name in values:
            if name not in known:
                raise unknown("setting", name, known)
        return replace(self, **values)


POSITIVE = {
    "total_timesteps", "num_envs", "num_steps", "minibatch_size", "num_epochs", "hidden_size", "members", "max_depth",
    "learning_rate", "clip_range", "max_grad_norm", "condition_temperature", "condition_temperature_end",
    "terminal_temperature", "terminal_temperature_end", "architecture_temperature_end", "settle_temperature",
    "settle_terminals",
    "deviation",
}  # fmt: skip
LARGEST = {
    "num_envs": 1 << 20, "num_steps": 1 << 20, "minibatch_size": 1 << 24, "num_epochs": 1000, "hidden_size": 1 << 13,
    "members": 1000, "max_depth": 64,
}  # fmt: skip
"""Beyond these no machine goes; a config that asks for more is broken or means harm."""
LARGEST_ROLLOUT = 1 << 24
LARGEST_NUMBER = 1e15
FRACTIONS = {
    "gamma", "gae_lambda", "architecture_from", "architecture_to", "harden_from", "harden_to", "settle_from",
    "noise_correlation",
}  # fmt: skip


def check_value(name: str, kind: Any, value: Any) -> None:
    """Refuse a value of the wrong kind, or outside the range in which the setting has a meaning."""
    if kind is bool:
        if not isinstance(value, bool):
            raise DiprlError(f"{name} must be True or False, not {value!r}")
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DiprlError(f"{name} must be a number, not {value!r:.80}")
    limit = LARGEST.get(name, LARGEST_NUMBER)
    if not value <= limit:  # which NaN is not either
        raise DiprlError(f"{name} must be a number of at most {limit:g}, not {value!r:.80}")
    if kind is int and not isinstance(value, int):
        raise DiprlError(f"{name} must be a whole number, not {value!r}")
    if name in POSITIVE and value <= 0:
        raise DiprlError(f"{name} must be positive, not {value}")
    if name in FRACTIONS and not 0 <= value <= 1:
        raise DiprlError(f"{name} must lie between 0 and 1, not {value}")
    if value < 0:
        raise DiprlError(f"{name} must not be negative, got {value}")


LARGEST_SEED = (1 << 31) - 1


def check_seed(seed: Any) -> None:
    """Refuse what cannot be the seed of a run."""
    if not isinstance(seed, Integral) or isinstance(seed, bool):
        raise DiprlError(f"seed must be a whole number, not {seed!r:.40}")
    if int(seed) < 0:
        raise DiprlError(f"seed must not be negative, got {seed}")
    if int(seed) > LARGEST_SEED:
        raise DiprlError(f"seed must be at most {LARGEST_SEED}, not {seed!r:.40}")
