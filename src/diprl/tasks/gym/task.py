"""Any Gymnasium environment as a task: names from the user, from what is known of the id, or generic ones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from diprl.errors import DiprlError
from diprl.program.check import canonical_signature
from diprl.program.signature import Feature, Signature
from diprl.system.device import draw_without_screen
from diprl.tasks import misdeeds
from diprl.tasks.base import Task, ViewLayout, flat_view
from diprl.tasks.description import Description, described_task
from diprl.tasks.gym.reference import UNLIMITED, Functions, Make, Reference, evaluate, time_limit
from diprl.tasks.gym.spaces import actions_of, features_of
from diprl.tasks.names import known_names

FeatureFunction = tuple[str, str, Callable[[Any], float]]
"""A feature of the user's own: name, unit, function of one observation."""
NO_LIMIT = f"{{}} has no time limit: episodes are cut after {UNLIMITED:,} steps, unless a task file sets a horizon"


def registered_task(identifier: str, **options: Any) -> Task:
    """The task of a registered Gymnasium id; options as for `gymnasium_task`."""
    return gymnasium_task(partial(gym.make, identifier, disable_env_checker=True), identifier, **options)


def gymnasium_task(
    make: Make,
    name: str | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    feature_names: Sequence[str] | None = None,
    action_names: Sequence[str] | None = None,
    features: Sequence[FeatureFunction] | None = None,
    said: Description | None = None,
) -> Task:
    """A task around `make`, named after the environment unless a name is given, as its task file describes it."""
    if features and feature_names:
        raise DiprlError("pass either `features` or `feature_names`: features bring their own names")
    functions = tuple(function for _, _, function in features or ())
    said = said or Description()
    label, horizon = name or getattr(make, "source", "the environment"), int(said.horizon or 0)
    reference = Reference(make, label, dict(env_kwargs or {}), functions, horizon, said.render)
    draw_without_screen()  # before the environment imports MuJoCo, if it does
    environment = reference.raw()
    own_name = environment.spec.id if environment.spec else type(environment.unwrapped).__name__
    reference = replace(reference, name=name or own_name)
    signature = _signature(environment, reference.name, features)
    computed = functions and isinstance(environment.observation_space, spaces.Box)
    limit = time_limit(environment)
    task = Task(
        name=reference.name,
        signature=signature,
        reference=reference,
        horizon=min(filter(None, (limit, horizon)), default=UNLIMITED),
        layout=ViewLayout(len(signature.features), len(signature.features)),
        view=partial(_feature_view, functions) if computed else flat_view,
        note="" if limit or horizon else NO_LIMIT.format(reference.name),
    )
    misdeeds.close(environment, reference.name)
    return described_task(renamed(task, feature_names, action_names), said)


def renamed(task: Task, feature_names: Sequence[str] | None, action_names: Sequence[str] | None) -> Task:
    """The same task under the user's names, where given."""
    features, actions = task.signature.features, task.signature.actions
    for kind, names, size in (("feature", feature_names, len(features)), ("action", action_names, len(actions.names))):
        if names and len(names) != size:
            raise DiprlError(f"{kind}_names has {len(names)} entries, but the environment has {size} {kind}s")
    labels = feature_names or task.signature.feature_names
    features = tuple(replace(old, name=new) for old, new in zip(features, labels, strict=True))
    signature = canonical_signature(Signature(features, replace(actions, names=tuple(action_names or actions.names))))
    # The same object where nothing changes: what is compiled for a task is kept with it.
    return task if signature == task.signature else replace(task, signature=signature)


def _signature(environment: gym.Env[Any, Any], name: str, functions: Sequence[FeatureFunction] | None) -> Signature:
    """The user's features or the observation's entries, and the actions, under the best names known."""
    actions = actions_of(environment.action_space)
    if functions:
        features = tuple(Feature(name, unit, meaning="computed from the observation") for name, unit, _ in functions)
    else:
        features = features_of(environment.observation_space)
    known = known_names(name, None if functions else len(features), len(actions.names))
    if known is None:
        return Signature(features, actions)
    if not functions and known.features:
        labels = zip(features, known.features, strict=True)
        features = tuple(replace(feature, name=label.name, unit=label.unit) for feature, label in labels)
    return Signature(features, replace(actions, names=known.actions))


def _feature_view(functions: Functions, observations: NDArray[Any]) -> NDArray[np.float32]:
    """The user's features of each observation in a batch."""
    return np.array([evaluate(functions, observation) for observation in observations])
