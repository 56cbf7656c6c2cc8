"""The door between learning and programs: what is read off acts like the hardened policy, and can go back in."""

from types import SimpleNamespace
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from diprl.arena.score import Gap
from diprl.errors import DiprlError
from diprl.extract import DECIDED, depth_probabilities, embed, extract, likeliest_depth
from diprl.methods.ladder import gap
from diprl.policy.agent import Agent, make_normaliser
from diprl.policy.base import Temperatures
from diprl.policy.mlp import MLP
from diprl.policy.terminals import BlendTerminals
from diprl.program import Act, Affine, Blend, Condition, If, Node, Program
from diprl.program.ast import conditions
from diprl.tasks.base import ViewLayout
from diprl.train.settings import Settings
from tests.policy.trees import FEATURES, KINDS, LAYOUTS, WARM, hard_actions, random_agent, random_views, signature

SHARP = Temperatures(architecture=0.02, condition=0.05, terminal=0.1)


def program_actions(program: Program, kind: str, views: NDArray[np.float32]) -> NDArray:
    layout = LAYOUTS[kind]
    primitives = (
        views[:, layout.critic :].reshape(-1, layout.primitives, layout.actuators) if layout.primitives else None
    )
    return program.act_batch(views[:, : layout.features], primitives)


def far_from_thresholds(program: Program, views: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Where 32-bit and 64-bit arithmetic cannot disagree about a condition."""
    features = views[:, :FEATURES].astype(np.float64)
    clear = np.ones(len(views), bool)
    for condition in conditions(program.root):
        terms = features * condition.weights
        size = np.abs(terms).sum(axis=1) + abs(condition.bias)
        clear &= np.abs(terms.sum(axis=1) + condition.bias) > 1e-5 * size
    return clear


def clipped(kind: str, actions: NDArray) -> NDArray:
    bounds = signature(kind).actions
    return actions if kind == "discrete" else np.clip(actions, bounds.low, bounds.high)  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("depth", [1, 4])
def test_the_program_acts_as_the_hardened_policy_in_raw_units(kind: str, depth: int) -> None:
    agent, views = random_agent(kind, depth, seed=depth), random_views(kind, 20_000, seed=1)
    program = extract(agent, signature(kind), WARM, task="Somewhere-v0")
    clear = far_from_thresholds(program, views)
    assert clear.mean() > 0.99
    ours, theirs = program_actions(program, kind, views)[clear], hard_actions(agent, views, WARM)[clear]
    if kind == "discrete":
        np.testing.assert_array_equal(ours, theirs)
    elif kind == "affine":
        np.testing.assert_allclose(ours, clipped(kind, theirs), atol=1e-4)
    else:
        np.testing.assert_allclose(ours, clipped(kind, theirs), atol=0.06)
    assert program.task == "Somewhere-v0"


def test_a_blend_below_one_primitive_is_exact() -> None:
    """Only a blend of more than 99% of one primitive is rounded to it."""
    agent = random_agent("blend", 2, seed=11)
    even = BlendTerminals(0.05 * agent.policy.terminals.logits, agent.policy.terminals.log_std)  # type: ignore[attr-defined]
    agent = eqx.tree_at(lambda a: a.policy.terminals, agent, even)
    views = random_views("blend", 2000, seed=2)
    program = extract(agent, signature("blend"), WARM)
    clear = far_from_thresholds(program, views)
    ours = program_actions(program, "blend", views)[clear]
    np.testing.assert_allclose(ours, clipped("blend", hard_actions(agent, views, WARM)[clear]), atol=1e-5)


@pytest.mark.parametrize("temperature", [0.25, 1.0])
def test_blend_weights_use_the_temperature_in_force(temperature: float) -> None:
    """A blend read off at another temperature than it was trained with is another blend."""
    logits = np.array([0.3, -0.1, 0.0])
    terminals = BlendTerminals(jnp.asarray(logits[None], jnp.float32), jnp.zeros(2))
    agent = eqx.tree_at(lambda a: a.policy.terminals, random_agent("blend", 1, seed=4), terminals)
    program = extract(agent, signature("blend"), Temperatures(terminal=temperature))
    expected = np.exp(logits / temperature) / np.exp(logits / temperature).sum()
    assert isinstance(program.root, Blend)
    np.testing.assert_allclose(program.root.weights, expected, rtol=1e-6)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_any_depth_can_be_read_off(depth: int) -> None:
    program = extract(random_agent("discrete", 4, seed=2), signature("discrete"), WARM, depth=depth)
    assert (program.depth, program.conditions) == (depth, depth - 1)


@pytest.mark.parametrize("depth", [0, 5])
def test_a_depth_the_tree_does_not_have_is_refused(depth: int) -> None:
    with pytest.raises(DiprlError, match=f"depth {depth} is not between 1 and 4"):
        extract(random_agent("discrete", 4, seed=2), signature("discrete"), WARM, depth=depth)


def test_a_network_is_not_a_program() -> None:
    agent = random_agent("discrete", 2, seed=0)
    with pytest.raises(DiprlError, match="MLP is not a program"):
        extract(eqx.tree_at(lambda a: a.policy, agent, agent.critic), signature("discrete"), WARM)


single = st.floats(-8, 8, width=32).filter(lambda x: x == 0 or abs(x) > 1e-20).map(float)


@st.composite
def chains(draw: st.DrawFn) -> tuple[str, Program]:
    """If/elif/else chains of every kind of action with 32-bit numbers, as learning holds them."""
    kind = draw(st.sampled_from(KINDS))
    node: Node = draw(leaves(kind))
    for _ in range(draw(st.integers(0, 3))):
        condition = Condition(draw(st.tuples(*[single] * FEATURES)), draw(single))
        node = If(condition, draw(leaves(kind)), node)
    return kind, Program(signature(kind), node)


def leaves(kind: str) -> st.SearchStrategy[Node]:
    if kind == "discrete":
        return st.builds(Act, st.integers(0, 3))
    if kind == "affine":
        halves = st.integers(-8, 8).map(lambda x: x * 0.25)
        rows = st.tuples(*[st.tuples(*[halves] * FEATURES)] * 2)
        return st.builds(Affine, rows, st.tuples(halves, halves))
    return st.sampled_from([Blend((1.0, 0.0, 0.0)), Blend((0.0, 0.0, 1.0)), Blend((0.5, 0.25, 0.25))])


def unnormalised(tree: object, kind: str) -> Agent:
    layout = ViewLayout(FEATURES, FEATURES, LAYOUTS[kind].primitives, LAYOUTS[kind].actuators)
    critic = MLP((jnp.zeros((FEATURES, 1)),), (jnp.zeros(1),))
    return Agent(tree, critic, make_normaliser(FEATURES), layout)  # type: ignore[arg-type]


@settings(max_examples=50)
@given(chains())
def test_an_embedded_program_comes_back_out(chain: tuple[str, Program]) -> None:
    kind, program = chain
    tree = embed(program, 4, SHARP)
    assert tree.max_depth == 4
    assert likeliest_depth(tree) == program.depth
    back = extract(unnormalised(tree, kind), signature(kind), SHARP)
    if kind == "discrete":
        assert back == program
        return
    assert back.conditions == program.conditions
    views = random_views(kind, 200, seed=0)
    np.testing.assert_allclose(
        program_actions(back, kind, views), program_actions(program, kind, views), rtol=1e-5, atol=1e-5
    )


def test_embedding_allows_for_the_normalisation_it_will_see() -> None:
    agent = random_agent("affine", 3, seed=6)
    program = extract(agent, signature("affine"), WARM)
    again = eqx.tree_at(lambda a: a.policy, agent, embed(program, 5, WARM, agent.normaliser))
    back, views = extract(again, signature("affine"), WARM), random_views("affine", 500, seed=3)
    clear = far_from_thresholds(program, views)
    ours, theirs = program_actions(back, "affine", views), program_actions(program, "affine", views)
    np.testing.assert_allclose(ours[clear], theirs[clear], atol=1e-3)


def test_a_tree_grows_with_a_program_that_is_too_deep_for_it() -> None:
    program = extract(random_agent("discrete", 4, seed=2), signature("discrete"), WARM, depth=4)
    assert embed(program, 2, WARM).max_depth == 4


def test_an_embedded_program_is_certain_of_its_shape() -> None:
    program = extract(random_agent("discrete", 4, seed=2), signature("discrete"), WARM, depth=3)
    probabilities = embed(program, 6, WARM).depth_probabilities()
    assert float(probabilities[2]) > 1.0 - 1e-8 * DECIDED


def test_a_nested_program_is_refused() -> None:
    condition = Condition((1.0, 0.0, 0.0), 0.0)
    nested = If(condition, If(condition, Act(0), Act(1)), Act(2))
    with pytest.raises(DiprlError, match="nests an if inside a branch"):
        embed(Program(signature("discrete"), nested), 4, WARM)


def trained(tree: object, temperatures: Temperatures) -> Any:
    """As much of a trained agent as the gap is told by."""
    agent = SimpleNamespace(policy=tree)
    return SimpleNamespace(agent=agent, temperatures=temperatures, settings=Settings().with_values(gamma=0.99))


def test_the_gap_is_split_by_what_was_hardened() -> None:
    tree = random_agent("discrete", 4, seed=2).policy
    found = gap(trained(tree, WARM), (100.0, 101.0, 97.0, 98.0, 96.5, 90.0), 5.0)
    assert list(found.ladder.values()) == [100.0, 101.0, 98.0, 96.5, 90.0]
    assert found.return_bound == pytest.approx(5.0 * found.mass / 0.01)  # type: ignore[operator]
    assert Gap.from_json(found.to_json()) == found
    before = {name: found.to_json()[name] for name in list(found.to_json())[:7]}
    assert Gap.from_json(before).depth_greedy is None, "records from before the ladder"
    assert (found.architecture, found.condition, found.terminal) == (3.0, 0.5, 6.5)
    assert found.total == found.relaxed - 90.0 == 10.0
    assert found.to_json()["total"] == 10.0


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.floats(0.05, 3.0))
def test_the_mass_of_other_depths_never_exceeds_the_entropy_bound(seed: int, temperature: float) -> None:
    tree = random_agent("discrete", 4, seed).policy
    found: Gap = gap(trained(tree, Temperatures(architecture=temperature)), (0.0,) * 6, 1.0)
    depths = np.asarray(depth_probabilities(tree, temperature), np.float64)
    assert found.mass == pytest.approx(1.0 - depths.max() / depths.sum(), abs=1e-6)
    assert 0.0 <= found.mass <= found.bound + 1e-6
    assert 0.0 <= found.entropy <= 1.0 + 1e-9


def test_a_negligible_share_of_a_blend_is_left_out() -> None:
    """A share of 10⁻⁵⁵ is noise to read; what is left adds up to one."""
    logits = jnp.array([[3.0, -100.0, 0.0]])
    agent = eqx.tree_at(
        lambda a: a.policy.terminals, random_agent("blend", 1, seed=4), BlendTerminals(logits, jnp.zeros(2))
    )
    program = extract(agent, signature("blend"), Temperatures(terminal=1.0))
    assert isinstance(program.root, Blend)
    assert program.root.weights[1] == 0.0
    assert sum(program.root.weights) == pytest.approx(1.0)
    assert len(str(program).splitlines()[-1].split(" + ")) == 2
