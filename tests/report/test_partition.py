"""The regions of the page against the interpreter."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from diprl.program import Act, Condition, Discrete, Feature, If, Node, Program, Signature
from diprl.report.partition import area, regions

NUMBERS = st.floats(-2, 2, allow_nan=False).map(lambda value: round(value, 2))
CONDITIONS = st.builds(Condition, st.tuples(NUMBERS, NUMBERS, NUMBERS), NUMBERS)
TREES: st.SearchStrategy[Node] = st.recursive(
    st.builds(Act, st.integers(0, 1)), lambda inner: st.builds(If, CONDITIONS, inner, inner), max_leaves=6
)
SIGNATURE = Signature(tuple(map(Feature, "xyz")), Discrete(("stay", "go")))
BOX = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]


@given(TREES, NUMBERS)
@settings(max_examples=60)
def test_regions_are_where_the_interpreter_says(root: Node, z: float) -> None:
    program = Program(SIGNATURE, root)
    found = list(regions(program.root, BOX, [9.0, 9.0, z], 0, 1))
    assert np.isclose(sum(area(polygon) for _, polygon in found), 4.0)
    for number, polygon in found:
        if area(polygon) > 1e-6:
            x, y = np.mean(polygon, axis=0)
            assert program.branch_batch([[x, y, z]])[0] == number


@given(TREES, NUMBERS, NUMBERS)
@settings(max_examples=30)
def test_a_single_feature_cuts_into_stripes(root: Node, y: float, z: float) -> None:
    program = Program(SIGNATURE, root)
    for number, polygon in regions(program.root, BOX, [9.0, y, z], 0, None):
        if area(polygon) > 1e-6:
            x = float(np.mean([point[0] for point in polygon]))
            assert program.branch_batch([[x, y, z]])[0] == number
