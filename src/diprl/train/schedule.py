"""How settings move over a run: everything is a function of the fraction of the run that is done."""

from dataclasses import fields

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from diprl.policy.base import Temperatures
from diprl.train.settings import PPOSettings, ProgramSettings, Settings

Scalar = Float[Array, ""] | np.floating | float

for record in (PPOSettings, ProgramSettings):
    traced = [item.name for item in fields(record) if item.metadata["traced"]]
    fixed = [item.name for item in fields(record) if not item.metadata["traced"]]
    jax.tree_util.register_dataclass(record, data_fields=traced, meta_fields=fixed)
jax.tree_util.register_dataclass(Settings, data_fields=["ppo", "program"], meta_fields=[])


def linear(start: Scalar, end: Scalar, progress: Scalar) -> Float[Array, ""]:
    return jnp.asarray(start + (end - start) * progress)


def span(start: Scalar, end: Scalar, progress: Scalar) -> Float[Array, ""]:
    """How far progress has come on the way from start to end, between 0 and 1."""
    return jnp.clip((progress - start) / jnp.maximum(end - start, 1e-6), 0.0, 1.0)


def geometric(start: Scalar, end: Scalar, part: Scalar) -> Float[Array, ""]:
    return jnp.asarray(start * (end / start) ** part)


@jax.jit  # also called on its own, at every report
def temperatures(numbers: Settings, progress: Scalar) -> Temperatures:
    """Conditions and terminals sharpen over the hardening span, the architecture between its ramp and that span's end.

    Everything sharpens once more at the end of the run, so that one of any length ends discrete.
    """
    program = numbers.program
    hardening = span(program.harden_from, program.harden_to, progress)
    settling = span(program.settle_from, 1.0, progress)
    settled = geometric(1.0, program.settle_temperature, settling)
    chosen = span(program.architecture_to, program.harden_to, progress)
    return Temperatures(
        architecture=geometric(1.0, program.architecture_temperature_end, chosen) * settled,
        condition=geometric(program.condition_temperature, program.condition_temperature_end, hardening) * settled,
        terminal=geometric(program.terminal_temperature, program.terminal_temperature_end, hardening)
        * geometric(1.0, program.settle_terminals, settling),
    )


def noise_correlation(first: Scalar, progress: Scalar) -> Float[Array, ""]:
    """Correlated noise finds rewards that independent noise never meets; the latter then judges each action."""
    return first * (1.0 - span(0.0, 0.5, progress))


def ramped_alpha(numbers: Settings, progress: Scalar) -> Float[Array, ""]:
    """The scheduled weight of the architecture entropy: quadratic, so that early training stays free to explore."""
    program = numbers.program
    return program.alpha + program.alpha_ramp * span(program.architecture_from, program.architecture_to, progress) ** 2
