"""CartPole-v1, Acrobot-v1 and MountainCar-v0 in JAX, step for step what Gymnasium computes, in float32."""

from dataclasses import dataclass
from math import pi
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array


class CartPoleState(NamedTuple):
    """Metres, radians and seconds."""

    position: Array
    velocity: Array
    angle: Array
    angular_velocity: Array


@dataclass(frozen=True)
class CartPole:
    """A pole of half-length 0.5 m on a cart, pushed left (0) or right (1) with 10 N for 0.02 s."""

    reset_size: int = 4
    horizon: int = 500

    def reset(self, uniform: Array) -> CartPoleState:
        return CartPoleState(*(0.1 * uniform - 0.05))

    def observe(self, state: CartPoleState) -> Array:
        return jnp.stack(state)

    def step(self, state: CartPoleState, action: Array) -> tuple[CartPoleState, Array, Array]:
        total_mass, pole_mass, pole_moment, interval = 1.1, 0.1, 0.05, 0.02
        force = jnp.where(action == 1, 10.0, -10.0)
        cosine, sine = jnp.cos(state.angle), jnp.sin(state.angle)
        push = (force + pole_moment * state.angular_velocity**2 * sine) / total_mass
        inertia = 0.5 * (4.0 / 3.0 - pole_mass * cosine**2 / total_mass)
        angular_acceleration = (9.8 * sine - cosine * push) / inertia
        acceleration = push - pole_moment * angular_acceleration * cosine / total_mass
        following = CartPoleState(
            state.position + interval * state.velocity,
            state.velocity + interval * acceleration,
            state.angle + interval * state.angular_velocity,
            state.angular_velocity + interval * angular_acceleration,
        )
        fallen = jnp.abs(following.angle) > 12 * 2 * pi / 360
        return following, jnp.float32(1.0), fallen | (jnp.abs(following.position) > 2.4)


class AcrobotState(NamedTuple):
    """Joint angles in radians; one step ends with their cosines and sines, and the next begins with them."""

    angle1: Array
    angle2: Array
    velocity1: Array
    velocity2: Array
    cosine1: Array
    sine1: Array
    cosine2: Array
    sine2: Array


@dataclass(frozen=True)
class Acrobot:
    """Two hanging links of 1 m and 1 kg; a motor between them turns with action − 1 N·m for 0.2 s."""

    reset_size: int = 4
    horizon: int = 500

    def reset(self, uniform: Array) -> AcrobotState:
        return _acrobot_state(*(0.2 * uniform - 0.1))

    def observe(self, state: AcrobotState) -> Array:
        angles = (state.cosine1, state.sine1, state.cosine2, state.sine2)
        return jnp.stack((*angles, state.velocity1, state.velocity2))

    def step(self, state: AcrobotState, action: Array) -> tuple[AcrobotState, Array, Array]:
        torque = jnp.asarray(action, jnp.float32) - 1.0
        angle1, angle2, velocity1, velocity2 = _runge_kutta(state, torque)
        following = _acrobot_state(
            _wrap(angle1), _wrap(angle2), jnp.clip(velocity1, -4 * pi, 4 * pi), jnp.clip(velocity2, -9 * pi, 9 * pi)
        )
        elbow = -following.cosine1
        tip = elbow - (following.cosine1 * following.cosine2 - following.sine1 * following.sine2)
        raised = tip > 1.0
        return following, jnp.where(raised, jnp.float32(0.0), jnp.float32(-1.0)), raised


def _acrobot_state(angle1: Array, angle2: Array, velocity1: Array, velocity2: Array) -> AcrobotState:
    """Completes the four coordinates with the cosines and sines of both angles."""
    cosine1, sine1, cosine2, sine2 = jnp.cos(angle1), jnp.sin(angle1), jnp.cos(angle2), jnp.sin(angle2)
    return AcrobotState(angle1, angle2, velocity1, velocity2, cosine1, sine1, cosine2, sine2)


def _wrap(angle: Array) -> Array:
    """The same angle in [−π, π]."""
    return angle - 2 * pi * jnp.round(angle / (2 * pi))


def _runge_kutta(state: AcrobotState, torque: Array, interval: float = 0.2) -> tuple[Array, ...]:
    """The coordinates after one fourth-order Runge–Kutta step."""
    start = state[:4]

    def stage(slope: tuple[Array, ...], duration: float) -> tuple[Array, ...]:
        return tuple(value + duration * rate for value, rate in zip(start, slope, strict=True))

    slope1 = _slope(state, torque)
    slope2 = _slope(_acrobot_state(*stage(slope1, interval / 2)), torque)
    slope3 = _slope(_acrobot_state(*stage(slope2, interval / 2)), torque)
    slope4 = _slope(_acrobot_state(*stage(slope3, interval)), torque)
    slopes = zip(slope1, slope2, slope3, slope4, strict=True)
    return stage(tuple(a + 2 * b + 2 * c + d for a, b, c, d in slopes), interval / 6)


def _slope(state: AcrobotState, torque: Array) -> tuple[Array, Array, Array, Array]:
    """Time derivatives of the coordinates: Sutton and Barto's equations with masses and lengths put in."""
    _, _, velocity1, velocity2, cosine1, sine1, cosine2, sine2 = state
    inertia1 = 3.5 + cosine2
    inertia2 = 1.25 + 0.5 * cosine2
    gravity2 = 4.9 * (sine1 * cosine2 + cosine1 * sine2)
    coriolis = 0.5 * velocity2 * (velocity2 + 2.0 * velocity1) * sine2
    force1 = 14.7 * sine1 + gravity2 - coriolis
    ratio = inertia2 / inertia1
    force2 = torque + ratio * force1 - 0.5 * velocity1**2 * sine2 - gravity2
    acceleration2 = force2 / (1.25 - inertia2 * ratio)
    acceleration1 = -(ratio * acceleration2 + force1 / inertia1)
    return velocity1, velocity2, acceleration1, acceleration2


class MountainCarState(NamedTuple):
    """Position along the valley and its change per step."""

    position: Array
    velocity: Array


@dataclass(frozen=True)
class MountainCar:
    """A car in a valley whose engine, pushing left (0), coasting (1) or right (2), is weaker than gravity."""

    reset_size: int = 1
    horizon: int = 200

    def reset(self, uniform: Array) -> MountainCarState:
        return MountainCarState(0.2 * uniform[0] - 0.6, jnp.float32(0.0))

    def observe(self, state: MountainCarState) -> Array:
        return jnp.stack(state)

    def step(self, state: MountainCarState, action: Array) -> tuple[MountainCarState, Array, Array]:
        engine = 0.001 * (jnp.asarray(action, jnp.float32) - 1.0)
        velocity = jnp.clip(state.velocity + engine - 0.0025 * jnp.cos(3 * state.position), -0.07, 0.07)
        position = jnp.clip(state.position + velocity, -1.2, 0.6)
        velocity = jnp.where(position <= jnp.float32(-1.2), jnp.maximum(velocity, 0.0), velocity)
        arrived = (position >= 0.5) & (velocity >= 0.0)
        return MountainCarState(position, velocity), jnp.float32(-1.0), arrived


def mountain_car_potential(views: Any) -> Array:
    """Ten times the car's mechanical energy in thousandths: more energy is what climbing out takes."""
    position, velocity = views[..., 0], views[..., 1]
    return 10.0 * (0.0025 / 3 * jnp.sin(3 * position) + velocity**2 / 2) / 1e-3
