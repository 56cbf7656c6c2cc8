"""Is every branch of a program reached by some state of a box?"""

from diprl.program.ast import terminals
from diprl.verify.cells import cells
from diprl.verify.context import Context, State, leaf_text
from diprl.verify.regions import path_to, region_text
from diprl.verify.report import Answer, named_text
from diprl.verify.spec import Branches
from diprl.verify.witness import settle


def check_branches(context: Context, wanted: Branches) -> Answer:
    """Proved with a state per branch; refuted by branches that no state of the box reaches."""
    program = context.program
    question = context.question(wanted.box)
    reached: dict[int, State | None] = {}
    for leaf in cells(question, program.root):
        number = leaf.number
        reached[number] = settle(
            question.point(),
            wanted.box.clamp,
            lambda state, number=number: program.branch_batch([state])[0] == number,
        )
    leaves = terminals(program.root)
    dead = [number for number in range(len(leaves)) if number not in reached]
    unconfirmed = [number for number, state in reached.items() if state is None]
    if dead:
        lines = [f"branch {number + 1} is dead: {_branch_text(context, number)}" for number in dead]
        return Answer("refuted", f"no state reaches {len(dead)} of {len(leaves)} branches", tuple(lines))
    if unconfirmed:
        lines = [f"branch {number + 1}: {_branch_text(context, number)}" for number in unconfirmed]
        sentence = "some branches are reached in real arithmetic, but by no float64 state that was tried"
        return Answer("unknown", sentence, tuple(lines))
    lines = [
        f"branch {number + 1} ({leaf_text(program, leaves[number])}) at {named_text(context.named(state))}"
        for number, state in reached.items()
        if state is not None
    ]
    count = f"all {len(leaves)} branches are" if len(leaves) > 1 else "the only branch is"
    return Answer("proved", f"{count} reached, each by a state that the interpreter confirms", tuple(lines))


def _branch_text(context: Context, number: int) -> str:
    """The conditions on the way to a branch, and what it does."""
    where = region_text(context, path_to(context.program.root, number))
    return f"{leaf_text(context.program, terminals(context.program.root)[number])} {where}"
