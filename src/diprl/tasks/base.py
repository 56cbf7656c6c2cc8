"""What a task is: names, a reference environment that scores, and perhaps a compiled twin that trains.

The learner sees each step as one vector, its *view*: the features that conditions read, then whatever only the critic
may see, then the actions of the primitives (already computed, since nothing that trains changes them).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from diprl.program.networks import Network
from diprl.program.signature import Discrete, Signature

if TYPE_CHECKING:
    import gymnasium as gym

    from diprl.tasks.origin import Origin

Views = NDArray[np.float32]
View = Callable[[NDArray[Any]], Views]
"""Turns a batch of reference observations (n, …) into views (n, size of the layout)."""
BACKENDS = ("auto", "sync", "async", "envpool")
"""Where environments outside JAX can be stepped."""


@dataclass(frozen=True)
class ViewLayout:
    """Where parts of a view lie: view[:features], view[:critic], view[critic:] reshaped to (primitives, actuators)."""

    features: int
    critic: int
    primitives: int = 0
    actuators: int = 0

    @property
    def size(self) -> int:
        return self.critic + self.primitives * self.actuators


def flat_view(observations: NDArray[Any]) -> Views:
    """A batch of observations as a batch of views, where conditions read every number and nothing else is seen."""
    return np.asarray(observations, np.float32).reshape(len(observations), -1)


@runtime_checkable
class Twin(Protocol):
    """A pure JAX simulator of one environment; batching is `vmap`, time limits are the collector's business.

    A state is any pytree of arrays. Randomness enters only through `reset`, as numbers drawn uniformly from [0, 1).
    """

    @property
    def reset_size(self) -> int: ...

    @property
    def horizon(self) -> int: ...

    def reset(self, uniform: Any) -> Any:
        """The initial state for `reset_size` uniform numbers."""

    def observe(self, state: Any) -> Any:
        """The features of a state (float32)."""

    def step(self, state: Any, action: Any) -> tuple[Any, Any, Any]:
        """The next state, the task's own reward, and whether the episode terminated."""
        ...


class Step(NamedTuple):
    """What a batch of environments returns for one action each."""

    view: NDArray[np.float32]
    """What the policy acts on next; a fresh episode's first view where the last one ended."""
    next_view: NDArray[np.float32]
    """What the action led to, before any reset: the final view of an episode that ended."""
    reward: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    info: dict[str, NDArray[Any]]
    """Extra numbers per environment, such as `distance` and `is_success`."""


def with_first_views(next_view: Views, ended: NDArray[np.bool_], begin: Callable[[NDArray[np.int64]], Views]) -> Views:
    """What the policy acts on next: where an episode ended, the first view of one that `begin` begins in these rows."""
    if not ended.any():
        return next_view
    view, rows = next_view.copy(), np.flatnonzero(ended)
    view[rows] = begin(rows)
    return view


class Environments(Protocol):
    """A batch of environments outside JAX that resets each one as soon as its episode ends."""

    num_envs: int

    def reset(self, seed: int) -> NDArray[np.float32]: ...

    def step(self, actions: NDArray[Any]) -> Step: ...

    def close(self) -> None: ...


@dataclass(frozen=True, eq=False)
class Task:
    """One environment with names, as every method trains on it and every score is measured on it."""

    name: str
    signature: Signature
    reference: Callable[..., "gym.Env[Any, Any]"]
    """Makes one reference environment; keyword arguments such as render_mode pass through."""
    horizon: int
    """Steps after which an episode is truncated."""
    layout: ViewLayout
    view: View
    twin: Callable[[], Twin] | None = None
    """Builds the compiled simulator, where one exists."""
    practice: "Callable[..., gym.Env[Any, Any]] | None" = None
    """Makes one that pays what training pays, where that is not the score: a search for better programs plays it."""
    environments: Callable[[int], Environments] | None = None
    """Builds a fast batch of n environments of the task's own, where one exists (MuJoCo)."""
    networks: Callable[[], tuple[Network, ...]] | None = None
    """Loads the networks behind the primitives that its programs blend, under the programs' names for them."""
    envpool: str | None = None
    """EnvPool's id for the same environment, where it has one."""
    potential: Callable[[Any], Any] | None = None
    """Shapes the reward while training: Φ of a batch of views (JAX), in units of reward. Never used in a score."""
    budget: int = 1_000_000
    """Environment steps of a full training run."""
    solved_return: float | None = None
    """A mean return within noise of the best possible: a program that validates at it needs no rival."""
    paper_score: float | None = None
    """The paper's DiPRL on this task."""
    required: tuple[int, ...] = ()
    """Indices of features that a program has to read."""
    forbidden: tuple[int, ...] = ()
    """Indices of features that no condition and no controller may read."""
    origin: "Origin | None" = None
    """Where the user had it from, unless its name says that."""
    note: str = ""
    """What a user should know before it is trained on."""

    @property
    def continuous(self) -> bool:
        """Whether actions are numbers instead of choices."""
        return not isinstance(self.signature.actions, Discrete)
