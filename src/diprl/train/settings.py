"""Every setting of a training run: what PPO needs, and what a relaxed program needs.

The two records are the options of `diprl train`, the keyword arguments in Python and the `settings` of a run's config.
What a value may be, and whether compiled code receives it as a number, is metadata of its field.
"""

from collections.abc import Mapping
from dataclasses import Field, asdict, dataclass, field, fields, replace
from numbers import Integral
from typing import Any, TypeVar

from diprl.errors import DiprlError, unknown

LARGEST_NUMBER = 1e15
LARGEST_ROLLOUT = 1 << 22
LARGEST_SEED = (1 << 31) - 1


def setting(
    default: Any,
    *,
    traced: bool = False,
    shared: bool = True,
    positive: bool = False,
    fraction: bool = False,
    largest: float = LARGEST_NUMBER,
) -> Any:
    """A field with its limits.

    A traced setting is a number that compiled code receives, so that one compilation serves every value of it.
    A setting that is not shared steers the run from outside and never reaches compiled code.
    """
    limits = {"traced": traced, "shared": shared, "positive": positive, "fraction": fraction, "largest": largest}
    return field(default=default, metadata=limits)


@dataclass(frozen=True)
class PPOSettings:
    """Settings of PPO. Fractions are of the whole run."""

    total_timesteps: int = setting(2_000_000, shared=False, positive=True)
    """Environment steps to train for, rounded up to whole rollouts."""
    num_envs: int = setting(32, positive=True, largest=1 << 20)
    """Environments stepped together."""
    num_steps: int = setting(128, positive=True, largest=1 << 20)
    """Steps of each environment between updates."""
    minibatch_size: int = setting(256, positive=True, largest=1 << 22)
    """Transitions per gradient step."""
    num_epochs: int = setting(10, positive=True, largest=1000)
    """Passes over each rollout."""
    hidden_size: int = setting(64, positive=True, largest=1 << 11)
    """Width of the two hidden layers of the critic, and of the policy in neural PPO."""
    normalise: bool = setting(True)
    """Normalise features while training; extraction folds this away."""
    statistics_until: float = setting(1.0, traced=True, fraction=True)
    """When the statistics of features are fixed: later, a rare event would move every condition that reads one."""
    scale_rewards: bool = setting(False)
    """Divide rewards by a running deviation of returns (for continuous control)."""
    quiet: bool = setting(False)
    """Let noise teach nothing where rewards are rare: the critic begins at zero and small advantages stay small."""
    deviation: float = setting(0.6, positive=True)
    """Standard deviation of continuous actions at the start, in halves of their range; for blends in motor units."""
    noise_correlation: float = setting(0.0, fraction=True)
    """Correlation between the random numbers of one step and the next; it falls to 0 by the middle of the run."""

    learning_rate: float = setting(1e-2, traced=True, positive=True)
    """Adam's step size at the start; it changes linearly."""
    learning_rate_end: float = setting(0.0, traced=True)
    """Adam's step size at the end."""
    clip_range: float = setting(0.2, traced=True, positive=True)
    """PPO's clipping of the probability ratio at the start; it changes linearly."""
    clip_range_end: float = setting(0.0, traced=True)
    """PPO's clipping of the probability ratio at the end."""
    entropy_coefficient: float = setting(0.01, traced=True)
    """Weight of the bonus for random actions at the start; it changes linearly."""
    entropy_coefficient_end: float = setting(0.0, traced=True)
    """Weight of the bonus for random actions at the end."""
    gamma: float = setting(0.99, traced=True, fraction=True)
    """Discount per step."""
    gae_lambda: float = setting(0.95, traced=True, fraction=True)
    """Trace decay of the advantage estimate."""
    value_coefficient: float = setting(0.5, traced=True)
    """Weight of the critic's loss."""
    max_grad_norm: float = setting(0.5, traced=True, positive=True)
    """Gradients are scaled down to this global norm."""

    @property
    def rollout_size(self) -> int:
        return self.num_envs * self.num_steps

    @property
    def num_minibatches(self) -> int:
        return self.rollout_size // self.minibatch_size

    @property
    def num_rollouts(self) -> int:
        return -(-self.total_timesteps // self.rollout_size)

    @property
    def num_timesteps(self) -> int:
        """Environment steps of all rollouts: the budget, rounded up."""
        return self.num_rollouts * self.rollout_size


@dataclass(frozen=True)
class ProgramSettings:
    """Settings of the relaxed program and of its way to a discrete one. Fractions are of the whole run."""

    members: int = setting(1, shared=False, positive=True, largest=1000)
    """Independent trainings that share the budget; the program that validates best stays."""
    candidates: int = setting(1, shared=False, positive=True, largest=100)
    """Choices of discount and method of learning that are tried first; the best one goes on. 1 tries none."""
    directions: int = setting(0, shared=False, largest=1 << 16)
    """Random directions that are tried, forth and back, for each step on the true return; 0 learns by gradients."""
    polish_share: float = setting(0.2, shared=False)
    """Share of the budget for making the discrete program shorter, rounder and better; 0 keeps it as extracted."""
    thin_share: float = setting(0.0, shared=False, fraction=True)
    """Part of that share in which the program trains on while numbers go; for discrete actions."""
    max_numbers: int = setting(0, shared=False)
    """The most numbers that the chosen program may have; 0 chooses the smallest of the best."""
    max_conditions: int = setting(0, shared=False)
    """The most conditions that the chosen program may have; 0 sets no limit."""
    max_depth: int = setting(6, positive=True, largest=64)
    """Longest program: an if/elif/else chain of this many actions. Height of the tree in DTSemNet and VIPER."""
    architecture_period: int = setting(0)
    """0 trains architecture and program together; n gives the first of every n rollouts to the architecture alone."""
    idle_turns: bool = setting(True)
    """The program rests in the architecture's rollouts even once the architecture is settled."""
    mix_logits: bool = setting(False)
    """Mix the leaves' logits or means, as the authors' release does, instead of their distributions."""
    terminal_spread: float = setting(0.1)
    """Spread of the leaves' first numbers: enough to tell them apart, too little to decide anything."""
    leaf_balance: float = setting(0.0)
    """The first temperature of conditions, to begin with all leaves of the longest chain equally likely; 0 does not."""
    leaf_difference: float = setting(1.0, fraction=True)
    """The part of the differences between affine leaves that counts; with a small one, all learn as one at first."""
    keep_action_weights: bool = setting(False, shared=False)
    """Begin pi-PRL's fine-tuning with the action weights of the search, as published, not with one action each."""
    choose_primitives: bool = setting(False)
    """Leaves choose one primitive instead of blending all of them."""

    alpha: float = setting(0.0, traced=True)
    """Fixed weight of the architecture entropy."""
    alpha_ramp: float = setting(1.0, traced=True)
    """Weight of the architecture entropy at the end of its ramp, which grows quadratically."""
    alpha_dual: float = setting(0.0, traced=True)
    """Learning rate of the paper's automatic weight (dual ascent on log α); 0 turns it off."""
    dual_epsilon: float = setting(1e-5, traced=True, positive=True)
    """Adam's epsilon in that dual ascent."""
    target_entropy: float = setting(0.1, traced=True)
    """The dual's target, as a fraction of the largest architecture entropy."""
    architecture_from: float = setting(0.1, traced=True, fraction=True)
    """When the ramp of α begins."""
    architecture_to: float = setting(0.6, traced=True, fraction=True)
    """When the ramp of α ends."""
    architecture_temperature_end: float = setting(0.02, traced=True, positive=True)
    """Temperature of the stop/continue choices at the end; it falls from 1 after the ramp."""
    feature_entropy: float = setting(0.0, traced=True)
    """Weight of the entropy over the features of each condition, on the same ramp; 0 lets conditions read all."""
    enough_features: float = setting(0.0, traced=True)
    """How many features a condition may read, on average, before that weight acts; counted as exp(entropy)."""
    support_at: float = setting(0.5, traced=True, fraction=True)
    """When features with too small a share of their condition are removed for good; the entropy over features ends."""
    smallest_share: float = setting(0.05, traced=True, fraction=True)
    """The share of its condition that a feature needs to stay."""
    condition_temperature: float = setting(1.0, traced=True, positive=True)
    """How soft conditions are before they harden."""
    condition_temperature_end: float = setting(0.05, traced=True, positive=True)
    """How soft conditions are after they have hardened."""
    harden_from: float = setting(0.2, traced=True, fraction=True)
    """When conditions and leaves begin to harden."""
    harden_to: float = setting(0.8, traced=True, fraction=True)
    """When they have hardened."""
    terminal_temperature: float = setting(0.25, traced=True, positive=True)
    """How soft leaves are before they harden."""
    terminal_temperature_end: float = setting(0.25, traced=True, positive=True)
    """How soft leaves are after they have hardened."""
    settle_from: float = setting(0.85, traced=True, fraction=True)
    """When everything begins to sharpen once more, so that any run ends discrete."""
    settle_temperature: float = setting(0.02, traced=True, positive=True)
    """The factor by which conditions have then sharpened at the end."""
    settle_terminals: float = setting(0.02, traced=True, positive=True)
    """The same factor for leaves; 1 lets blends of primitives remain blends."""


@dataclass(frozen=True)
class Settings:
    """All settings of a run. Change them with `with_values`, which checks them."""

    ppo: PPOSettings = PPOSettings()
    program: ProgramSettings = ProgramSettings()

    def with_values(self, **values: Any) -> "Settings":
        """A copy with some settings changed, and no others; a misspelt name is answered with the nearest ones."""
        for name, value in values.items():
            if name not in FIELDS:
                raise unknown("setting", name, FIELDS)
            check_value(FIELDS[name], value)
        changed = Settings(with_some(self.ppo, values), with_some(self.program, values))
        check_rollout(changed.ppo)
        return changed

    def values(self) -> dict[str, Any]:
        """Every setting by name, as files and records hold them."""
        return asdict(self.ppo) | asdict(self.program)

    def numbers(self) -> "Settings":
        """The traced settings as 32-bit numbers, everything else at its default: what compiled code receives."""
        import numpy as np

        traced = {name: np.float32(value) for name, value in self.values().items() if LIMITS[name]["traced"]}
        return Settings(with_some(PPOSettings(), traced), with_some(ProgramSettings(), traced))

    def compiled(self) -> "Settings":
        """What a compilation depends on, everything else at its default: equal for runs that share one.

        Of the dual and the entropy over features it keeps whether there is one: without, there is less to compile.
        """
        kept = {
            name: value
            for name, value in self.values().items()
            if LIMITS[name]["shared"] and not LIMITS[name]["traced"]
        }
        for name in SWITCHED_OFF_BY_ZERO:
            kept[name] = float(self.values()[name] > 0)
        return Settings(with_some(PPOSettings(), kept), with_some(ProgramSettings(), kept))


SWITCHED_OFF_BY_ZERO = ("alpha_dual", "feature_entropy", "enough_features")
Part = TypeVar("Part", PPOSettings, ProgramSettings)


def with_some(part: Part, values: Mapping[str, Any]) -> Part:
    """The record with those of the values that it has fields for."""
    return replace(part, **{item.name: values[item.name] for item in fields(part) if item.name in values})


FIELDS: dict[str, Field[Any]] = {
    item.name: item for record in (PPOSettings, ProgramSettings) for item in fields(record)
}
"""Every setting by name."""
LIMITS = {name: item.metadata for name, item in FIELDS.items()}


def check_value(item: Field[Any], value: Any) -> None:
    """Refuse a value of the wrong kind, or outside the range in which the setting has a meaning."""
    name, limits = item.name, item.metadata
    if item.type is bool:
        if not isinstance(value, bool):
            raise DiprlError(f"{name} must be True or False, not {value!r:.80}")
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DiprlError(f"{name} must be a number, not {value!r:.80}")
    if not value <= limits["largest"]:  # which NaN is not either
        raise DiprlError(f"{name} must be a number of at most {limits['largest']:g}, not {value!r:.80}")
    if item.type is int and not isinstance(value, int):
        raise DiprlError(f"{name} must be a whole number, not {value!r}")
    if limits["positive"] and value <= 0:
        raise DiprlError(f"{name} must be positive, not {value}")
    if limits["fraction"] and not 0 <= value <= 1:
        raise DiprlError(f"{name} must lie between 0 and 1, not {value}")
    if value < 0:
        raise DiprlError(f"{name} must not be negative, got {value}")


def check_rollout(ppo: PPOSettings) -> None:
    """Refuse sizes that do not fit together."""
    size = ppo.rollout_size
    if size > LARGEST_ROLLOUT:
        raise DiprlError(f"the rollout of num_envs × num_steps = {size} is larger than {LARGEST_ROLLOUT}")
    if ppo.minibatch_size > size:
        raise DiprlError(
            f"minibatch_size {ppo.minibatch_size} is larger than the rollout of "
            f"num_envs × num_steps = {size}: lower it or collect more"
        )
    if size % ppo.minibatch_size:
        wanted = ppo.minibatch_size
        below = next(each for each in range(wanted, 0, -1) if size % each == 0)
        above = next(each for each in range(wanted, size + 1) if size % each == 0)
        raise DiprlError(f"minibatch_size {wanted} does not divide the rollout of {size} steps: {below} and {above} do")


def check_seed(seed: Any) -> None:
    """Refuse what cannot be the seed of a run."""
    if not isinstance(seed, Integral) or isinstance(seed, bool):
        raise DiprlError(f"seed must be a whole number, not {seed!r:.40}")
    if int(seed) < 0:
        raise DiprlError(f"seed must not be negative, got {seed}")
    if int(seed) > LARGEST_SEED:
        raise DiprlError(f"seed must be at most {LARGEST_SEED}, not {seed!r:.40}")
