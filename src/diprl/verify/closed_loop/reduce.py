"""Leaves out the states that nothing reads: neither the claim, nor the program, nor the equations of other states."""

from dataclasses import replace

from diprl.program.ast import Blend, flatten, number_rows
from diprl.program.formula import Formula
from diprl.verify.closed_loop.claim import Claim
from diprl.verify.closed_loop.loop import Loop
from diprl.verify.exact.linear import Box

_ZERO = Formula("0", (0.0,))


def reduced(loop: Loop, claim: Claim) -> tuple[Loop, Claim, list[int]]:
    """The same question about fewer states, and which states those are.

    An end of episodes that reads another state is left out too: then more steps count, so more is proved.
    """
    plant = loop.plant
    rows = [row[:-1] for item in flatten(loop.program.root) if not isinstance(item, Blend) for row in number_rows(item)]
    weighed = [any(column) for column in zip(*rows, strict=True)] or [False] * len(plant.features)
    features = {
        name: form if read else _ZERO for (name, form), read in zip(plant.features.items(), weighed, strict=True)
    }
    equations = [*plant.rates.items(), *plant.following.items(), *plant.define.items()]
    needed = set[str]().union(*(one.difference.names for one in (*claim.always, *claim.goal)))
    needed = needed.union(*(feature.names for feature in features.values()))
    while (more := needed.union(*(formula.names for name, formula in equations if name in needed))) != needed:
        needed = more
    kept = [index for index, state in enumerate(plant.states) if state in needed]
    if not kept:
        return loop, claim, list(range(len(plant.states)))
    smaller = replace(
        plant,
        states=tuple(plant.states[index] for index in kept),
        features=features,
        rates={name: formula for name, formula in plant.rates.items() if name in needed},
        following={name: formula for name, formula in plant.following.items() if name in needed},
        define={name: formula for name, formula in plant.define.items() if name in needed},
        ends=tuple(end for end in plant.ends if end.difference.names <= needed | plant.constants.keys()),
    )
    box = Box(tuple(claim.start.low[index] for index in kept), tuple(claim.start.high[index] for index in kept))
    return replace(loop, plant=smaller), replace(claim, start=box), kept
