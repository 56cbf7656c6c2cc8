"""How settings move over a run: everything is a function of the fraction of the run that is done."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from diprl.policy.base import Temperatures
from diprl.train.config import Hyper

Scalar = Float[Array, ""] | float


def linear(start: Scalar, end: Scalar, progress: Scalar) -> Float[Array, ""]:
    return jnp.asarray(start + (end - start) * progress)


def span(start: Scalar, end: Scalar, progress: Scalar) -> Float[Array, ""]:
    """How far progress has come on the way from start to end, between 0 and 1."""
    return jnp.clip((progress - start) / jnp.maximum(end - start, 1e-6), 0.0, 1.0)


def geometric(start: Scalar, end: Scalar, part: Scalar) -> Float[Array, ""]:
    return jnp.asarray(start * (end / start) ** part)


@jax.jit  # also called on its own, at every report
def temperatures(hyper: Hyper, progress: Scalar) -> Temperatures:
    """Conditions and terminals sharpen over the hardening span, the architecture between its ramp and that span's end.

    Everything sharpens once more at the end of the run, so that one of any length ends discrete.
    """
    hardening = span(hyper.harden_from, hyper.harden_to, progress)
    settling = span(hyper.settle_from, 1.0, progress)
    settled = geometric(1.0, hyper.settle_temperature, settling)
    chosen = span(hyper.architecture_to, hyper.harden_to, progress)
    return Temperatures(
        architecture=geometric(1.0, hyper.architecture_temperature_end, chosen) * settled,
        condition=geometric(hyper.condition_temperature, hyper.condition_temperature_end, hardening)
        * settled,
        terminal=geometric(hyper.terminal_temperature, hyper.terminal_temperature_end, hardening)
        * geometric(1.0, hyper.settle_terminals, settling),
    )


def noise_correlation(first: Scalar, progress: Scalar) -> Float[Array, ""]:
    """Lasting noise finds rewards that a restless policy never meets; independent noise then measures each action."""
    return first * (1.0 - span(0.0, 0.5, progress))


def ramped_alpha(hyper: Hyper, progress: Scalar) -> Float[Array, ""]:
    """The scheduled weight of the architecture entropy: quadratic, so that early training stays free to explore."""
    return (
        hyper.alpha + hyper.alpha_ramp * span(hyper.architecture_from, hyper.architecture_to, progress) ** 2
    )
