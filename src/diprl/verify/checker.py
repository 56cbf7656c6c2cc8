"""Checks a certificate about a closed loop: python -m diprl.verify.checker CERTIFICATE.

A certificate names a program, a plant and a claim, and lists sets {x : low <= rows · x <= high}. Checked is that sets
cover every start, that from each set every branch of the program leads into the set that is named, and that what is
claimed is certain on every set. All arithmetic is rounded outwards: an accepted claim holds for real numbers, for the
program in the arithmetic that is named, and for a simulated plant whose steps are right to 2^-40 (1 + |x|).
This file shares no code with the search for proofs, needs NumPy only, and may be copied and used alone.
"""
# pyright: basic, reportCallIssue=false, reportAttributeAccessIssue=false

import json
import sys
from pathlib import Path
from time import monotonic

import numpy as np

ROUND = 2.0**-46  # covers what an operation on up to 60 symbols rounds away, relative to its result
UNITS = {"float64": 2.0**-53, "float32": 2.0**-24}


class Refused(Exception):
    """The certificate proves nothing; the message says where it fails."""


def demand(true, sentence):
    if not np.all(true):
        raise Refused(sentence)


class Form:
    """centre + slopes · z + e with z in [-1, 1] and |e| <= error: one quantity on each of many sets."""

    def __init__(self, centre, slopes, error):
        size = np.abs(centre) + np.abs(slopes).sum(axis=1) + error
        bad = ~(size < np.inf)
        self.centre, self.slopes = np.where(bad, 0.0, centre), np.where(bad[:, None], 0.0, slopes)
        self.error = np.where(bad, np.inf, error + ROUND * size + 1e-300)
        self.spread = (np.abs(self.slopes).sum(axis=1) + self.error) * (1.0 + ROUND)
        self.low, self.high = self.centre - self.spread, self.centre + self.spread
        self.size = np.abs(self.centre) + self.spread

    def __add__(self, other):
        return Form(self.centre + other.centre, self.slopes + other.slopes, self.error + other.error)

    def __sub__(self, other):
        return self + other * -1.0

    def __mul__(self, other):
        if not isinstance(other, Form):  # a number for all sets, or one for each
            factor = np.broadcast_to(np.asarray(other, float), self.centre.shape)
            return Form(self.centre * factor, self.slopes * factor[:, None], self.error * np.abs(factor))
        slopes = self.slopes * other.centre[:, None] + other.slopes * self.centre[:, None]
        error = np.abs(other.centre) * self.error + np.abs(self.centre) * other.error + self.spread * other.spread
        return Form(self.centre * other.centre, slopes, error + ROUND * self.size * other.size)

    def __truediv__(self, other):
        zero = ~((other.low > 1e-90) | (other.high < -1e-90))
        bends = np.stack([2.0 / other.low**3, 2.0 / other.high**3])
        inverse, slack = np.where(zero, np.nan, 1.0 / other.centre), ROUND * np.abs(bends).max(axis=0)
        return self * other.tangent(inverse, -(inverse**2), bends.min(axis=0) - slack, bends.max(axis=0) + slack)

    def __pow__(self, power):
        square = self.tangent(self.centre**2, 2.0 * self.centre, 0.0, 2.0)
        return self if power == 1 else square if power == 2 else self ** (power - 2) * square

    def within(self, low, high):
        """Something in [low, high]."""
        low, high = (np.broadcast_to(np.asarray(one, float), self.centre.shape) for one in (low, high))
        middle = low / 2 + high / 2
        return Form(middle, np.zeros_like(self.slopes), np.maximum(high - middle, middle - low))

    def loosened(self, slack):
        return self + self.within(-slack, slack)

    def narrowed(self, kept, low, high):
        """On some of the sets, with their symbols within bounds."""
        centre = self.centre[kept] + (self.slopes[kept] * (low / 2 + high / 2)).sum(axis=1)
        return Form(centre, self.slopes[kept] * (high / 2 - low / 2), self.error[kept] + ROUND * self.size[kept])

    def averaged(self, share):
        """The mean over the time so far for a share of 1/2, or over all of it for 0; the last symbol is time."""
        clock = np.eye(self.slopes.shape[1])[-1]
        return Form(self.centre - share * self.slopes[:, -1], self.slopes * (1 - (1 - share) * clock), self.error)

    def tangent(self, value, slope, least, most):
        """By value and slope at the centre, and bounds on the second derivative over the range."""
        square = self.spread**2 / 2.0 * (1.0 + ROUND)
        rounding = ROUND * (1.0 + np.abs(value) + (1.0 + np.abs(slope)) * self.spread)
        line = Form(value, self.slopes * slope[:, None], np.abs(slope) * self.error + rounding)
        return line + self.within(square * np.minimum(least, 0.0), square * np.maximum(most, 0.0))

    def sin(self, function=np.sin, slope=np.cos):
        value = function(self.centre)
        least, most = np.maximum(-1.0, value - self.spread - ROUND), np.minimum(1.0, value + self.spread + ROUND)
        return self.tangent(value, slope(self.centre), -most, -least)

    def positive(self):
        """max(x, 0) lies between share·x and share·x + max((1 − share)·high, −share·low), for any share in [0, 1]."""
        share = np.where(self.low >= 0.0, 1.0, np.clip(np.nan_to_num(self.high / (self.high - self.low)), 0.0, 1.0))
        above = np.maximum((1.0 - share) * np.maximum(self.high, 0.0), share * np.maximum(-self.low, 0.0))
        return self * share + self.within(0.0, above * (1.0 + ROUND))


SIGNS = {"+": Form.__add__, "-": Form.__sub__, "*": Form.__mul__, "/": Form.__truediv__}
FUNCTIONS = SIGNS | {
    "sin": Form.sin,
    "cos": lambda form: form.sin(np.cos, lambda x: -np.sin(x)),
    "max": lambda first, second: (first - second).positive() + second,
    "min": lambda first, second: first - (first - second).positive(),
    "where": lambda form, yes, no: yes + (no - yes) * form.within((form.high <= 0.0) * 1.0, (form.low <= 0.0) * 1.0),
}


def value(node, values):
    """The enclosure of a formula such as ["+", ["*", 2, "x"], 1]."""
    if not isinstance(node, list):
        return values[node] if isinstance(node, str) else values["any"].within(node, node)
    if node[0] == "^" and node[2] in range(1, 17):
        return value(node[1], values) ** node[2]
    return FUNCTIONS[node[0]](*(value(one, values) for one in node[1:]))


def formulas(plant, key, values):
    """The values of the formulas under a key of the plant; they may use its abbreviations."""
    for name, node in plant["define"].items():
        values = {**values, name: value(node, values)}
    return {name: value(node, values) for name, node in plant[key].items()}


def certain(comparisons, values):
    """On which sets all comparisons, such as ["<=", "x", 1], surely hold."""
    found = np.ones(len(values["any"].centre), bool)
    for sign, left, right in comparisons:
        low = ((value(left, values) - value(right, values)) * {">": 1.0, "<": -1.0}[sign[0]]).low
        found &= low >= 0.0 if sign[1:] == "=" else low > 0.0
    return found


def states_of(plant, rows, low, high):
    """The states of sets; x = V y + (1 − V rows) x for any V, here the inverse up to rounding. One symbol is time."""
    (count, size), back, middle = low.shape, np.linalg.inv(rows), low / 2 + high / 2
    rest = (np.abs(np.eye(size) - back @ rows) + ROUND * (np.abs(back) @ np.abs(rows) + np.eye(size))).sum(axis=2)
    demand(rest < 0.5, "rows of a set are nearly dependent")
    half = np.maximum(high - middle, middle - low)[:, :, None] * np.eye(size, size + 1)
    sides = [Form(middle[:, row], half[:, row], np.zeros(count)) for row in range(size)]
    values = {"any": sides[0] * 0.0}
    found = [sum((side * back[:, i, row] for row, side in enumerate(sides)), values["any"]) for i in range(size)]
    largest = 2.0 * np.max([one.size for one in found], axis=0)
    values |= {name: found[i].loosened(rest[:, i] * largest) for i, name in enumerate(plant["states"])}
    return values | {name: values["any"].within(*sides) for name, sides in plant["constants"].items()}


def linear(certificate, row, values):
    """A linear form of what the program sees: with noise, and off by what its arithmetic does to products and sums."""
    plant, names = certificate["plant"], certificate["program"]["features"]
    weights = {"": row["bias"], **row["weights"]}
    rounding = UNITS[certificate["arithmetic"]] * (4 * len(names) + 8) + UNITS["float32"] * plant["single"] + ROUND
    seen = zip([one["name"] for one in names], plant["features"].values(), certificate["noise"], strict=True)
    found = values["any"]
    for name, node, noise in [("", 1.0, 0.0), *seen]:
        weight, form = weights.pop(name, 0.0), value(node, values)
        slack = (noise + rounding * (form.size + noise)) * (1.0 + ROUND) + 1e-43
        fits = (abs(weight) > 1e-30) & (abs(weight) * (form.size + noise) < 1e30)
        demand(fits | (weight == 0.0), "the program's numbers do not fit its arithmetic")
        found = found + form.loosened(slack) * weight
    demand(not weights, "the program reads what is no feature")
    return found.loosened(1e-40)


def branches(certificate, picked, values, until):
    """Each leaf with the sets that may reach it, and their states there."""
    nodes, stack = certificate["program"]["nodes"], [(0, picked, values)]
    while stack:
        index, picked, values = stack.pop()
        demand(monotonic() < until, "there was not enough time to check it")
        if "if" not in nodes[index]:
            yield index, nodes[index], picked, values
            continue
        form = linear(certificate, nodes[index]["if"], values)
        for child, sign in (("else", -1.0), ("then", 1.0)):
            demand(nodes[index][child] > index, "the program has a cycle")
            slopes, slack = sign * form.slopes, 4.0 * ROUND * form.size
            most = sign * form.centre + form.spread + slack  # of the form, or of its negative
            bound = np.clip(-((most + slack)[:, None] - np.abs(slopes)) / slopes, -1.0, 1.0)
            low, high = np.where(slopes > 0.0, bound, -1.0), np.where(slopes < 0.0, bound, 1.0)
            kept = ~(most < 0.0)
            if kept.any():
                inside = {name: one.narrowed(kept, low[kept], high[kept]) for name, one in values.items()}
                stack.append((nodes[index][child], picked[kept], inside))


def stepped(certificate, leaf, values):
    """The states after one step, and on the way where the plant is a differential equation."""
    plant, actions, before, tubes = certificate["plant"], certificate["program"]["actions"], dict(values), []
    for index, name in enumerate(plant["inputs"]):
        if "act" in leaf:
            number = plant["choices"][actions["names"].index(leaf["act"])][index]
            before[name] = values["any"].within(number, number)
            continue
        form = linear(certificate, leaf["affine"][actions["names"][index]], values)
        for key, function, tightest in (("low", "max", max), ("high", "min", min)):
            sides = [one[key][index] for one in (actions, plant) if one[key][index] is not None]
            form = FUNCTIONS[function](form, form.within(*[tightest(sides)] * 2)) if sides else form
        before[name] = form.loosened(UNITS[certificate["arithmetic"]] * form.size)
    moved = before
    for _ in range(plant["substeps"] if plant["rates"] else 0):
        moved, tube = flow(plant, moved)
        tubes.append(tube)
    following = formulas(plant, "next", before).items()
    return moved | {name: one.loosened(2.0**-40 * (1.0 + one.size)) for name, one in following}, tubes


def flow(plant, values):
    """The states after some time, and on the way, by Picard's iteration; the last symbol is time."""
    span, none = plant["sample"] / plant["substeps"], values["any"]
    passed = Form(none.centre + span / 2, none.slopes + np.eye(none.slopes.shape[1])[-1] * span / 2, none.error)
    path, held = {name: values[name] for name in plant["rates"]}, False
    for _ in range(40):
        box = {name: one.within(one.low, one.high).loosened(0.05 * one.spread + 1e-12) for name, one in path.items()}
        path = {name: values[name] + passed * one for name, one in formulas(plant, "rates", values | box).items()}
        held = [np.abs(one.centre - box[name].centre) + one.spread <= box[name].error for name, one in path.items()]
        if np.all(held):  # no solution leaves the box
            break
    demand(held, "a solution has no rough enclosure")
    for _ in range(3):
        speeds = formulas(plant, "rates", values | path).items()
        path = {name: values[name] + passed * one.averaged(0.5) for name, one in speeds}
    return values | {name: values[name] + one.averaged(0.0) * span for name, one in speeds}, values | path


def cover(part, low, high, sets):
    """A part of the start box lies in a set of step 0, or is cut in two: [side, where, first part, second part]."""
    if isinstance(part, int):
        rows, least, most, time = (one[part] for one in sets)
        inside = [rows == np.eye(len(low)), (least <= low) & (high <= most), time == 0, part >= 0]
        return demand([np.all(one) for one in inside], "a set does not contain its part of the start")
    side, middle, first, second = part
    cover(first, low, np.where(np.arange(len(low)) == side, middle, high), sets)
    return cover(second, np.where(np.arange(len(low)) == side, middle, low), high, sets)


def check(certificate, until):
    """Accept the certificate, or raise."""
    plant, claim, nodes = (certificate[key] for key in ("plant", "claim", "nodes"))
    states, constants, goal, since = plant["states"], plant["constants"], claim["goal"], claim["since"]
    steps = np.inf if claim["steps"] is None else claim["steps"]
    rows, low, high = (np.asarray(nodes[key], float) for key in ("rows", "low", "high"))
    times, edges = (np.array(nodes[key], np.int64) for key in ("time", "edges"))
    names = [*states, *plant["inputs"], *constants, *plant["define"], "any"]
    sides = [*constants.values(), *zip(*claim["start"], strict=True), *([0, one] for one in certificate["noise"])]
    fine = [certificate["format"] == "diprl certificate 1", rows.shape == (len(times), len(states), len(states))]
    fine += [low.shape == high.shape == rows.shape[:2], np.all(low <= high), np.isfinite(high - low).all()]
    fine += [len(states) <= 40, plant["substeps"] in range(1, 10_001), 0.0 < plant["sample"] < np.inf, since >= 0]
    fine += [sorted([*plant["rates"], *plant["next"]]) == sorted(states), len({*names}) == len(names)]
    fine += [one <= other < np.inf for one, other in sides] + [bool(claim["always"] or goal)]
    demand(fine, "the certificate makes no sense")
    cover(nodes["start"], *np.asarray(claim["start"], float), (rows, low, high, times))
    values = states_of(plant, rows, low, high)
    over = certain(goal, values) if goal else times >= steps
    demand(over | (not goal) | ((times < steps) & (steps < np.inf)), "the goal is not reached in time")
    for end in plant["ends"]:
        demand(not goal or [end] == goal, "an episode may end before the goal is reached")
        over = over | certain([end], values)
    held = certain(claim["always"], values) | (times < since) | (over & bool(goal))
    demand(held, "what is claimed is not certain on a set")
    table, going = np.full((len(rows), len(certificate["program"]["nodes"])), -1), np.flatnonzero(~over)
    table[edges[:, 0], edges[:, 1]] = edges[:, 2]
    inside = {name: one.narrowed(going, -1.0, 1.0) for name, one in values.items()}
    for number, leaf, picked, here in branches(certificate, going, inside, until):
        after, tubes = stepped(certificate, leaf, here)
        target, late = table[picked, number], times[picked] + 1
        demand(target >= 0, f"branch {number} leads nowhere")
        demand([certain(claim["always"], tube) | (late <= since) for tube in tubes], "a claim fails during a step")
        for row in range(len(states)):
            image = sum((after[one] * rows[target, row, i] for i, one in enumerate(states)), after["any"])
            contained = (image.low >= low[target, row]) & (image.high <= high[target, row])
            demand(contained, f"branch {number} leaves its set")
        counted = times[target] >= (late if goal else np.minimum(late, since))
        demand(counted & ((times[target] <= late) | (steps == np.inf)), "steps are miscounted")


def problem_of(certificate, seconds=np.inf):
    """Why a certificate proves nothing; empty where it proves its claim."""
    try:
        with np.errstate(all="ignore"):
            check(certificate, monotonic() + seconds)
    except Exception as error:
        return str(error) if isinstance(error, Refused) else f"the certificate cannot be read: {error!r:.200}"
    return ""


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    refusal = problem_of(given)
    print(f"refused: {refusal}" if refusal else f"accepted: {json.dumps(given['claim'])}")
    sys.exit(bool(refusal))
