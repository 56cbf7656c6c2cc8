"""Sets of values in programs: they read back, decide as the linear forms they stand for, and are the shortest."""

import numpy as np
import pytest

from diprl.errors import ProgramError
from diprl.program import Program
from diprl.program.ast import Act, Condition, If, Node
from diprl.program.signature import Discrete, Feature, Signature
from diprl.program.tokens import ProgramSyntaxError
from diprl.search.smaller import merged, smaller_programs

VALUES = 7
FEATURES = tuple(Feature(f"state_is_{value}", low=0.0, high=1.0) for value in range(VALUES))
SIGNATURE = Signature((*FEATURES, Feature("speed")), Discrete(("stop", "go", "turn")))
HEAD = "features: state_is_0, state_is_1, state_is_2, state_is_10, speed\nactions: stop, go\n"


def parsed(condition: str) -> Program:
    return Program.from_text(f"{HEAD}if {condition}: go\nelse: stop\n")


def body(program: Program) -> str:
    return str(program).split("\n\n")[1]


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("state in {10, 1}", "state in {1, 10}"),
        ("state not in {2}", "state not in {2}"),
        ("state in {1,1, 2}", "state in {1, 2}"),
        ("state_is_1 + state_is_2 > 0.5", "state in {1, 2}"),
        ("state_is_1 + state_is_2 > 0.6", "state_is_1 + state_is_2 - 0.6 > 0"),
        ("state_is_1 + 2*state_is_2 > 0.5", "state_is_1 + 2*state_is_2 - 0.5 > 0"),
        ("state_is_1 + speed > 0.5", "state_is_1 + speed - 0.5 > 0"),
    ],
)
def test_a_set_is_printed_where_a_condition_is_one(written: str, printed: str) -> None:
    program = parsed(written)
    assert body(program).startswith(f"if {printed}:")
    assert Program.from_text(str(program)) == program


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("stat in {1}", "expected a value of stat, found '1'"),
        ("state in {7}", "expected a value of state, found '7'"),
        ("state in {01}", "expected a value of state, found '01'"),
        ("state in {}", "expected a value of state, found '}'"),
        ("state in 7", "expected '{', found '7'"),
        ("state in {1, 2", "expected '}'"),
        ("state > 3", "expected a feature name, found 'state'"),
        ("state not {1}", "expected a feature name, found 'state'"),
    ],
)
def test_a_set_that_is_none_is_refused_where_it_goes_wrong(written: str, message: str) -> None:
    with pytest.raises(ProgramSyntaxError, match=message):
        parsed(written)


def random_chain(dice: np.random.Generator, speed: float) -> Program:
    """A chain of random linear conditions, some of which read the speed."""
    root: Node = Act(int(dice.integers(3)))
    for _ in range(int(dice.integers(1, 7))):
        weights = np.append(dice.normal(size=VALUES) * (dice.random(VALUES) < 0.8), speed * (dice.random() < 0.5))
        root = If(Condition(tuple(weights.tolist()), float(dice.normal())), Act(int(dice.integers(3))), root)
    return Program(SIGNATURE, root)


@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_sets_decide_as_the_program_did(speed: float) -> None:
    dice = np.random.default_rng(0)
    states = np.column_stack([np.tile(np.eye(VALUES), (20, 1)), dice.normal(size=20 * VALUES)]).astype(np.float32)
    fewer = 0
    for _ in range(200):
        program = random_chain(dice, speed)
        short = merged(program)
        assert (short.act_batch(states) == program.act_batch(states)).all()
        assert Program.from_text(str(short)) == short
        fewer += short.coefficients < program.coefficients
        if not speed:
            assert " > 0" not in body(short)
            assert short.coefficients <= VALUES + short.conditions
    assert fewer > 150


def test_two_sets_with_one_branch_become_one() -> None:
    text = "if state in {0}: go\nelif state in {1}: go\nelif state in {2, 0}: stop\nelse: go\n"
    assert body(merged(Program.from_text(HEAD + text))).split("\n")[:-1:2] == [
        "if state in {0, 1}:", "elif state in {2}:", "else:",
    ]  # fmt: skip


def test_a_set_loses_one_value_at_a_time_and_stays_a_set() -> None:
    states = np.eye(4, 5, dtype=np.float32)
    found = smaller_programs(parsed("state in {0, 1, 10}"), states)
    assert {body(each.program).split(":")[0] for each in found if each.saved == 1} == {
        "if state in {1, 10}", "if state in {0, 10}", "if state in {0, 1}",
    }  # fmt: skip


def test_a_program_with_another_root_keeps_its_interface_and_checks_the_root() -> None:
    program = Program.from_text("features: level\nactions: off, on\n\nif level > 1: on\nelse: off")
    other = program.with_root(Act(np.int64(0)))  # type: ignore[arg-type]
    assert other.signature is program.signature
    assert other == Program(program.signature, Act(0))
    assert type(other.root.action) is int  # type: ignore[union-attr]
    with pytest.raises(ProgramError):
        program.with_root(Act(7))
