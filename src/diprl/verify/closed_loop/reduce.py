"""Leaves out the states that nothing reads: neither the claim, nor the program, nor the equations of other states."""

from dataclasses import replace

from diprl.program.ast import Blend, flatten, number_rows
from diprl.program.formula import Formula
from diprl.verify.closed_loop.claim import Claim
from diprl.verify.closed_loop.loop import Loop
from diprl.verify.exact.linear import Box
from diprl.verify.plants.plant import Named, Plant

_ZERO = Formula("0", (0.0,))


def reduced(loop: Loop, claim: Claim) -> tuple[Loop, Claim, list[int]]:
    """The same question about fewer states, and which states those are.

    An end of episodes that reads another state is left out too: then more steps count, so more is proved.
    """
    plant, read = loop.plant, _features_read(loop)
    needed = set[str]().union(*(one.difference.names for one in (*claim.always, *claim.goal)))
    needed |= set[str]().union(*(formula.names for index, (_, formula) in enumerate(plant.features) if index in read))
    while True:
        more = needed | set[str]().union(*(_read_by(plant, state) for state in needed & set(plant.states)))
        if more == needed:
            break
        needed = more
    kept = [index for index, state in enumerate(plant.states) if state in needed]
    if len(kept) == len(plant.states) or not kept:
        return loop, claim, list(range(len(plant.states)))

    def only(pairs: Named) -> Named:
        return tuple(pair for pair in pairs if pair[0] in needed)

    gone = set(plant.states) - needed
    smaller = replace(
        plant,
        states=tuple(plant.states[index] for index in kept),
        features=tuple((name, f if number in read else _ZERO) for number, (name, f) in enumerate(plant.features)),
        rates=only(plant.rates),
        following=only(plant.following),
        after=only(plant.after),
        define=only(plant.define),
        ends=tuple(end for end in plant.ends if not end.difference.names & gone),
        start=None,
    )
    box = Box(tuple(claim.start.low[index] for index in kept), tuple(claim.start.high[index] for index in kept))
    return replace(loop, plant=smaller), replace(claim, start=box), kept


def _features_read(loop: Loop) -> set[int]:
    """The features that the program weighs."""
    rows = [row[:-1] for item in flatten(loop.program.root) if not isinstance(item, Blend) for row in number_rows(item)]
    return {index for row in rows for index, weight in enumerate(row) if weight}


def _read_by(plant: Plant, state: str) -> set[str]:
    """What the equations of a state read, with abbreviations followed to their names."""
    definitions = dict(plant.define)
    found = set[str]()
    waiting = [f.names for pairs in (plant.rates, plant.following, plant.after) for name, f in pairs if name == state]
    names = set[str]().union(*waiting)
    while names:
        name = names.pop()
        if name not in found:
            found.add(name)
            names |= definitions[name].names if name in definitions else set()
    return found
