"""The parts of the page one by one."""

import numpy as np
import pytest

from diprl.program import Act, Condition, If, Node, Program, parse
from diprl.report.draw import Markup, element, ticks
from diprl.report.listing import branch_paths, branches, few_digits, lines
from diprl.report.partition import area, regions
from diprl.report.replay import record_replay, timeline
from diprl.report.visits import Visits, choose_features, influence
from diprl.tasks.registry import load_task
from tests.export.examples import BLEND, NESTED
from tests.report.run_folders import CLUMSY, PROGRAM


@pytest.mark.parametrize("program", [PROGRAM, NESTED, BLEND], ids=["discrete", "continuous", "primitives"])
def test_listing_holds_every_number_exactly(program: object) -> None:
    shown = "".join(
        f"{term.sign}{term.exact}{term.name}"
        for line in lines(program)  # type: ignore[arg-type]
        for _, form in line.forms
        for term in form
    )
    body = str(program).split("\n\n", 1)[1]
    for number in ("0.0123456789", "2.5", "0.125", "0.7"):
        assert (number in body) == (number in shown)


def test_branches_know_their_way() -> None:
    first, second, third = branches(PROGRAM)
    assert (first.text, second.text, third.text) == ("right", "right", "left")
    assert first.colour == second.colour != third.colour
    assert branch_paths(PROGRAM)[2] == ((0, False), (1, False))


def test_influence_finds_the_feature_that_matters() -> None:
    program = parse("features: a, b\nactions: no, yes\n\nif b > 0:\n    yes\nelse:\n    no\n")
    features = np.random.default_rng(0).normal(size=(400, 2))
    visits = Visits(features, program.branch_batch(features))
    nothing, much = influence(program, visits)
    assert nothing == 0.0
    assert much == pytest.approx(0.5, abs=0.1)
    assert choose_features(program, None, [nothing, much]) == [1, 0]


def test_a_replay_agrees_with_the_interpreter() -> None:
    replay = record_replay(load_task("CartPole-v1"), CLUMSY)
    states = np.array([moment.features for moment in replay.moments])
    assert replay.moments[-1].total == len(replay.moments) - 1
    assert [moment.branch for moment in replay.moments] == CLUMSY.branch_batch(states).tolist()
    expected = 3 * states[:, 2] + states[:, 3] - 0.0123456789
    np.testing.assert_allclose(replay.values[0], expected, atol=1e-12)
    assert len(replay.pictures) == -(-len(replay.moments) // replay.stride)
    assert timeline(replay, branches(CLUMSY)).count("<rect") >= 1


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1e6, 3.0), (0.001, 0.00101), (499.0, 501.0)])
def test_ticks_lie_between(low: float, high: float) -> None:
    found = ticks(low, high)
    assert 2 <= len(found) <= 9
    assert all(low - 1e-9 * abs(low) <= tick <= high + 1e-9 * abs(high) for tick in found)


def test_short_numbers() -> None:
    assert [few_digits(value) for value in (0.123456, 1.0, 1234.4, 1e-7)] == ["0.123", "1", "1230", "1e-07"]


def test_a_long_chain_has_a_page_without_the_values_of_its_conditions() -> None:
    root: Node = Act(0)
    for index in range(2_000):
        root = If(Condition((0.0, 0.0, 1.0, 0.0), index / 2_000 - 0.5), Act(index % 2), root)
    program = Program(PROGRAM.signature, root)
    replay = record_replay(load_task("CartPole-v1"), program)
    assert replay.values.shape == (0, len(replay.moments))
    assert len(branches(program)) == 2_001
    box = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
    assert sum(area(polygon) for _, polygon in regions(root, box, [0.0] * 4, 2, 3)) == pytest.approx(4.0)


def test_text_becomes_markup_only_when_it_is_escaped() -> None:
    drawn = element("text", "<b>", element("tspan", "&"), aria_label='"<')
    assert drawn == '<text aria-label="&quot;&lt;">&lt;b&gt;<tspan>&amp;</tspan></text>'
    assert isinstance(drawn, Markup)
    assert not isinstance(drawn + "<b>", Markup)
