"""Checks a certificate about a closed loop: python -m diprl.verify.checker CERTIFICATE.

A certificate names a program, a plant and a claim, and lists sets {x : low <= rows · x <= high}. Checked is: sets cover
every start; from each set, every branch of the program leads into the set that is named; and what is claimed is certain
on every set. All arithmetic is rounded outwards, so an accepted claim holds for real numbers, for the program in the
arithmetic that is named, and for a simulated plant whose steps are right to 2^-40 (1 + |x|).
This file shares no code with the search for proofs: it needs NumPy only, and may be copied and used alone.
"""
# pyright: basic

import json
import sys
from pathlib import Path
from time import monotonic

import numpy as np

ROUND, TINY = 2.0**-46, 1e-300  # ROUND covers what an operation on up to 60 symbols rounds away
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
        self.error = np.where(bad, np.inf, error + ROUND * size + TINY)
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
        least, most = bends.min(axis=0), bends.max(axis=0) + ROUND * np.abs(bends).max(axis=0)
        inverse = np.where(zero, np.nan, 1.0 / other.centre)
        return self * other.tangent(inverse, -(inverse**2), least - (most - least) - ROUND * np.abs(least), most)

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
        middle = (self.slopes[kept] * (low / 2 + high / 2)).sum(axis=1)
        error = self.error[kept] + ROUND * self.size[kept]
        return Form(self.centre[kept] + middle, self.slopes[kept] * (high / 2 - low / 2), error)

    def tangent(self, value, slope, least, most):
        """By value and slope at the centre, and bounds on the second derivative over the range."""
        square = self.spread**2 / 2.0 * (1.0 + ROUND)
        rounding = ROUND * (1.0 + np.abs(value) + (1.0 + np.abs(slope)) * self.spread)
        line = Form(value, self.slopes * slope[:, None], np.abs(slope) * self.error + rounding)
        return line + self.within(square * np.minimum(least, 0.0), square * np.maximum(most, 0.0))

    def where(self, mask, other):
        slopes = np.where(mask[:, None], self.slopes, other.slopes)
        return Form(np.where(mask, self.centre, other.centre), slopes, np.where(mask, self.error, other.error))

    def sin(self, function=np.sin, slope=np.cos):
        value = function(self.centre)
        least, most = np.maximum(-1.0, value - self.spread - ROUND), np.minimum(1.0, value + self.spread + ROUND)
        return self.tangent(value, slope(self.centre), -most, -least)

    def positive(self):
        """max(x, 0) lies between share·x and share·x + max((1 − share)·high, −share·low), for any share in [0, 1]."""
        share = np.where(self.low >= 0.0, 1.0, np.clip(np.nan_to_num(self.high / (self.high - self.low)), 0.0, 1.0))
        above = np.maximum((1.0 - share) * np.maximum(self.high, 0.0), share * np.maximum(-self.low, 0.0))
        return self * share + self.within(0.0, above * (1.0 + ROUND))

    def choose(self, above, other):
        """The one where this is positive, the other elsewhere."""
        change = other - above
        both = above + above.within(np.minimum(change.low, 0.0), np.maximum(change.high, 0.0))
        return above.where(self.low > 0.0, other.where(self.high <= 0.0, both))


FUNCTIONS = {
    "+": Form.__add__,
    "-": Form.__sub__,
    "*": Form.__mul__,
    "/": Form.__truediv__,
    "negative": lambda form: form * -1.0,
    "sin": Form.sin,
    "cos": lambda form: form.sin(np.cos, lambda x: -np.sin(x)),
    "abs": lambda form: form.positive() + (form * -1.0).positive(),
    "max": lambda first, second: (first - second).positive() + second,
    "min": lambda first, second: first - (first - second).positive(),
    "clip": lambda form, low, high: high - (high - ((form - low).positive() + low)).positive(),
    "where": Form.choose,
}


def value(node, values):
    """The enclosure of a formula such as ["+", ["*", 2, "x"], 1]."""
    if not isinstance(node, list):
        return values[node] if isinstance(node, str) else values["any"].within(node, node)
    if node[0] == "^":
        demand(node[2] in range(1, 17), "a power must be a whole number from 1 to 16")
        return value(node[1], values) ** node[2]
    return FUNCTIONS[node[0]](*(value(one, values) for one in node[1:]))


def defined(plant, values):
    """Values of names, with the plant's abbreviations."""
    for name, node in plant["define"].items():
        values = {**values, name: value(node, values)}
    return values


def certain(comparisons, values):
    """On which sets all comparisons, such as ["<=", "x", 1], surely hold."""
    found = np.ones(len(values["any"].centre), bool)
    for sign, left, right in comparisons:
        demand(sign in (">", "<", ">=", "<="), "a condition must be a comparison")
        low = (value(left, values) - value(right, values)) * (1.0 if sign[0] == ">" else -1.0)
        found &= low.low > 0.0 if len(sign) == 1 else low.low >= 0.0
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
    values |= {name: one.loosened(rest[:, i] * largest) for i, (name, one) in enumerate(zip(plant["states"], found))}
    return values | {name: values["any"].within(*sides) for name, sides in plant["constants"].items()}


def features_of(certificate, values):
    """What the program sees: with noise, and off by what its arithmetic may do to each product and sum."""
    names, nodes = certificate["program"]["features"], certificate["plant"]["features"].values()
    unit = UNITS[certificate["arithmetic"]] * (4 * len(names) + 8) + ROUND
    rounding = unit + UNITS["float32"] * certificate["plant"]["single"]
    found = {"": values["any"].within(1.0 - unit, 1.0 + unit)}
    for feature, node, noise in zip(names, nodes, certificate["noise"], strict=True):
        form = value(node, values)
        demand((form.size + noise < 1e7) | (unit < 1e-9), "a feature is too large for float32")
        found[feature["name"]] = form.loosened((noise + rounding * (form.size + noise)) * (1.0 + ROUND) + 1e-43)
    return found


def linear(certificate, row, features):
    """A linear form of the features in the program's arithmetic."""
    numbers = np.abs([row["bias"], *row["weights"].values()])
    fits = (numbers == 0.0) | ((numbers > 1e-30) & (numbers < 1e30)) | (certificate["arithmetic"] == "float64")
    demand(fits, "a number is too large or too small for float32")
    terms = (features[name] * weight for name, weight in row["weights"].items())
    return sum(terms, features[""] * row["bias"]).loosened(1e-40)


def branches(certificate, picked, values, until):
    """Each leaf with the sets that may reach it, and their states there."""
    nodes, stack, number = certificate["program"]["nodes"], [(0, picked, values)], 0
    while stack:
        index, picked, values = stack.pop()
        demand(monotonic() < until, "there was not enough time to check it")
        if "if" not in nodes[index]:
            yield number, nodes[index], picked, values
            number += 1
            continue
        form = linear(certificate, nodes[index]["if"], features_of(certificate, values))
        for child, sign in (("else", -1.0), ("then", 1.0)):
            demand(nodes[index][child] > index, "the program has a cycle")
            slopes, slack = sign * form.slopes, 4.0 * ROUND * form.size
            most = sign * form.centre + form.spread + slack  # of the form, or of its negative
            bound = np.clip(-((most + slack)[:, None] - np.abs(slopes)) / slopes, -1.0, 1.0)
            low, high = np.where(slopes > 0.0, bound, -1.0), np.where(slopes < 0.0, bound, 1.0)
            kept = ~(most < 0.0)
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
        form = linear(certificate, leaf["affine"][actions["names"][index]], features_of(certificate, values))
        low = max(-1e300 if one["low"][index] is None else one["low"][index] for one in (actions, plant))
        high = min(1e300 if one["high"][index] is None else one["high"][index] for one in (actions, plant))
        form = FUNCTIONS["clip"](form, form.within(low, low), form.within(high, high))
        before[name] = form.loosened(UNITS[certificate["arithmetic"]] * form.size)
    moved = before
    for _ in range(plant["substeps"] if plant["rates"] else 0):
        moved, tube = flow(plant, moved)
        tubes.append(tube)
    following = {name: value(node, defined(plant, before)) for name, node in plant["next"].items()}
    return moved | {name: one.loosened(2.0**-40 * (1.0 + one.size)) for name, one in following.items()}, tubes


def flow(plant, values):
    """The states after some time, and on the way, by Picard's iteration; the last symbol is the time."""
    span, zero = plant["sample"] / plant["substeps"], values["any"]
    clock = np.eye(zero.slopes.shape[1])[-1:]
    passed = Form(zero.centre + span / 2, zero.slopes + clock * span / 2, zero.error)

    def speeds(path):
        inside = defined(plant, values | path)
        return {name: value(node, inside) for name, node in plant["rates"].items()}

    path = {name: values[name] for name in plant["rates"]}
    for _ in range(40):
        wide = {name: 1.05 * one.spread + 1e-12 for name, one in path.items()}
        box = {name: one.within(one.centre - wide[name], one.centre + wide[name]) for name, one in path.items()}
        path = {name: values[name] + passed * one for name, one in speeds(box).items()}
        room = [box[name].error - 4.0 * ROUND * box[name].size - one.spread for name, one in path.items()]
        if np.all(np.abs([one.centre - box[name].centre for name, one in path.items()]) <= room):
            break  # no solution leaves the box
    else:
        raise Refused("a solution has no rough enclosure")
    for _ in range(2):
        found = speeds(path).items()  # and their mean from the beginning until each time:
        mean = {
            name: Form(one.centre - one.slopes[:, -1] / 2, one.slopes * (1 - clock / 2), one.error)
            for name, one in found
        }
        path = {name: values[name] + passed * one for name, one in mean.items()}
    ends = {name: Form(one.centre, one.slopes * (1 - clock), one.error) * span for name, one in speeds(path).items()}
    return values | {name: values[name] + one for name, one in ends.items()}, values | path


def cover(part, low, high, sets):
    """A part of the start box lies in a set of step 0, or is cut in two: [side, where, first part, second part]."""
    if isinstance(part, int):
        rows, least, most, times = (one[part] for one in sets)
        inside = np.all(rows == np.eye(len(low))) and np.all(least <= low) and np.all(high <= most)
        demand(part >= 0 and inside and times == 0, "a set does not contain its part of the start")
        return
    side, middle, *halves = part
    chosen = np.arange(len(low)) == side
    cover(halves[0], low, np.where(chosen, middle, high), sets)
    cover(halves[1], np.where(chosen, middle, low), high, sets)


def check(certificate, until):
    """Accept the certificate, or raise."""
    plant, claim, nodes = (certificate[key] for key in ("plant", "claim", "nodes"))
    states, steps, since, goal = plant["states"], claim["steps"], claim["since"], claim["goal"]
    rows, low, high = (np.asarray(nodes[key], float) for key in ("rows", "low", "high"))
    times, edges = (np.array(nodes[key], np.int64) for key in ("time", "edges"))
    fine = [certificate["format"] == "diprl certificate 1", rows.shape == (len(times), len(states), len(states))]
    fine += [low.shape == high.shape == rows.shape[:2], np.all(low <= high), np.isfinite([low, high]).all()]
    fine += [isinstance(plant["substeps"], int), 0.0 < plant["sample"] / plant["substeps"] < np.inf, since >= 0]
    fine += [
        sorted([*plant["rates"], *plant["next"]]) == sorted(states),
        bool(claim["always"] or goal),
        bool(steps or not goal),
    ]
    fine += [low <= high for low, high in plant["constants"].values()] + [
        0 <= one < np.inf for one in certificate["noise"]
    ]
    demand(fine, "the certificate makes no sense")
    start = np.asarray(claim["start"], float)
    demand(start[0] <= start[1], "the start is no box")
    cover(nodes["start"], *start, (rows, low, high, times))
    values = states_of(plant, rows, low, high)
    over = certain(goal, values) if goal else times >= (np.inf if steps is None else steps)
    demand(over | (not goal) | (times < (steps or 0)), "the goal is not reached in time")
    for end in plant["ends"]:
        demand(not goal or end in goal, "an episode may end before the goal is reached")
        over |= certain([end], values)
    held = certain(claim["always"], values) | (times < since)
    demand(held | (over & bool(goal)), "what is claimed is not certain on a set")
    table = np.full((len(rows), len(certificate["program"]["nodes"])), -1)
    table[edges[:, 0], edges[:, 1]] = edges[:, 2]
    going = np.flatnonzero(~over)
    inside = {name: one.narrowed(going, -1.0, 1.0) for name, one in values.items()}
    for number, leaf, picked, within in branches(certificate, going, inside, until):
        target, after, tubes = table[picked, number], *stepped(certificate, leaf, within)
        demand(target >= 0, f"branch {number} leads nowhere")
        for tube in tubes:
            demand(
                certain(claim["always"], tube) | (times[picked] < since), "what is claimed is not certain during a step"
            )
        for row in range(len(states)):
            image = sum((after[one] * rows[target, row, i] for i, one in enumerate(states)), after["any"])
            demand(
                (image.low >= low[target, row]) & (image.high <= high[target, row]), f"branch {number} leaves its set"
            )
        late = times[picked] + 1
        demand(times[target] >= (late if goal else np.minimum(late, since)), "steps are miscounted")
        demand((times[target] <= late) | (steps is None), "steps are miscounted")


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
