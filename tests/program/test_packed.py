"""Several programs that act at once decide as each of them does by itself."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from diprl.program import Program
from diprl.program.packed import Together
from tests.program.strategies import nodes, observations, primitive_actions, programs, tame_numbers


@given(programs(tame_numbers), st.data(), st.integers(0, 99))
def test_programs_act_together_as_they_do_alone(program: Program, data: st.DataObject, seed: int) -> None:
    roots = data.draw(st.lists(nodes(program.signature, tame_numbers), max_size=3))
    several = [program, *(program.with_root(root) for root in roots)]
    features = np.concatenate([observations(each, 8, seed, special=False) for each in several])
    primitives = primitive_actions(program, len(features), seed)
    owner = np.random.default_rng(seed).permutation(np.arange(len(features)) % len(several))

    acted = Together(several).act(owner, features, primitives)

    for number, each in enumerate(several):
        rows = owner == number
        alone = each.act_batch(features[rows], None if primitives is None else primitives[rows])
        assert np.array_equal(acted[rows], alone)
