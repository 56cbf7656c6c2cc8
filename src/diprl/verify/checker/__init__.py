"""Checks a certificate about a closed loop: python -m diprl.verify.checker CERTIFICATE.

A certificate names a program, a plant and a claim, and lists sets {x : low <= rows · x <= high}. Checked is: the first
set contains every start; from each set, every branch of the program leads into the set that is named; and what is
claimed is certain on every set. All arithmetic is rounded outwards, so an accepted claim holds for real numbers,
for the program in 64-bit floats, and for a simulated plant whose steps are right to 2^-40 (1 + |x|).

This folder shares no code with the search for proofs: it needs NumPy only, and may be copied and used alone.
"""
# pyright: basic

import ast

import numpy as np

from .enclosure import ORDER, ROUND, TINY, UNIT, Form, Refused, demand, derivative, flow, tree, value


def problem_of(certificate):
    """Why a certificate proves nothing; empty where it proves its claim."""
    try:
        with np.errstate(all="ignore"):
            check(certificate)
    except Refused as reason:
        return str(reason)
    except Exception as error:
        return f"the certificate cannot be read: {error!r:.200}"
    return ""


def check(certificate):
    """Accept the certificate, or raise."""
    demand(certificate["format"] == "diprl certificate 1", "this is no certificate of a known format")
    loop, nodes, claim = loop_of(certificate), certificate["nodes"], certificate["claim"]
    rows, low, high = (np.asarray(nodes[name], float) for name in ("rows", "low", "high"))
    time, label, count = (np.asarray(nodes[name], dtype=np.int64) for name in ("time", "label", "count"))
    size = len(loop["plant"]["states"])
    shapes = rows.shape[1:] == (size, size) and low.shape == high.shape == rows.shape[:2] and 0 < size <= 40
    demand(shapes and time.shape == label.shape == count.shape == low.shape[:1], "the sets have the wrong shape")
    demand(np.isfinite(rows).all() and np.isfinite(low).all() and np.isfinite(high).all(), "a number is not finite")
    demand(low <= high, "a set is empty")
    start = np.asarray(claim["start"], float)
    demand((start[0] <= start[1]).all() and start.shape == (2, size), "the start is not a box")
    demand((rows[0] == np.eye(size)).all() and time[0] == 0 and count[0] == 0 and label[0] == -1, "no start set")
    demand((low[0] <= start[0]).all() and (high[0] >= start[1]).all(), "the first set does not contain the start")
    values = states_of(rows, low, high, loop["plant"])
    halves = check_splits(nodes["splits"], rows, low, high, time, label, count)
    over = check_claim(claim, loop, values, time, count, halves)
    check_steps(
        loop, claim, values, (rows, low, high), (time, label, count), np.flatnonzero(~(over | halves)), nodes["edges"]
    )


def loop_of(certificate):
    """The closed loop, with its formulas read once."""
    plant, program, known = certificate["plant"], certificate["program"], {"pi": ("number", float(np.pi))}
    known |= {name: ("number", float(number)) for name, number in plant["constants"].items()}
    constants = dict(known)
    for name, text in plant["define"]:
        known[name] = tree(text, known)
    following = {name: tree(text, known) for name, text in plant["next"]}
    rates = {name: tree(text, known) for name, text in plant["rates"]}
    demand(
        {*following, *rates} == {*plant["states"]} and len(following) + len(rates) == len(plant["states"]),
        "a state has no equation",
    )
    demand(not plant["after"] and (not rates or plant["method"] == "exact"), "this kind of plant cannot be checked")
    names = [*plant["states"], *plant["inputs"], *(one[0] for one in plant["unknowns"])]
    demand(len(names) == len({*names}) and not {*known, "any"} & {*names}, "a name has two meanings")
    towers = {name: [("name", name), node] for name, node in rates.items()}
    for tower in towers.values():
        while len(tower) < ORDER + 2:
            tower.append(derivative(tower[-1], rates))
    seen = [tree(text, constants) for _, text in plant["features"]]
    noise = [float(one) for one in certificate["noise"]]
    demand(all(0.0 <= one < np.inf for one in noise), "noise must not be negative")
    demand(all(low <= high for _, low, high in plant["unknowns"]), "an unknown has no value")
    demand(plant["substeps"] in range(1, 10_001) and 0.0 < plant["sample"] < np.inf, "a sample takes time")
    return {
        "plant": plant,
        "program": program,
        "next": following,
        "towers": towers,
        "features": seen,
        "noise": noise,
        "names": [one["name"] for one in program["features"]],
        "constants": constants,
    }


def certain(loop, texts, values):
    """On which sets all comparisons surely hold."""
    found = np.ones(len(values["any"].centre), bool)
    for text in texts:
        sign = ast.parse(text, mode="eval").body.ops[0]
        low = value(tree(text, loop["constants"]), values).low
        found &= low > 0.0 if isinstance(sign, (ast.Gt, ast.Lt)) else low >= 0.0
    return found


def check_splits(splits, rows, low, high, time, label, count):
    """Sets that are cut in two: the halves cover them, and are met at the same step."""
    found = np.zeros(len(rows), bool)
    for whole, first, second in splits:
        demand(min(whole, first, second) >= 0 and whole < min(first, second), "a set is not cut into later ones")
        same = [np.array_equal(one[whole], one[half]) for one in (rows, time, label, count) for half in (first, second)]
        demand(same, "halves differ from their set")
        side = np.flatnonzero(high[first] < high[whole])
        reach = (low[first] <= low[whole]).all() and (high[second] >= high[whole]).all()
        gaps = np.flatnonzero(low[second] > low[whole])
        demand(
            reach and len({*side, *gaps}) <= 1 and (low[second] <= high[first])[[*side, *gaps]].all(),
            "halves leave a gap",
        )
        found[whole] = True
    return found


def check_claim(claim, loop, values, time, count, halves):
    """What is claimed is certain on every set; gives the sets from which nothing more is claimed."""
    steps, ends = claim["steps"], loop["plant"]["ends"]
    demand(steps is None or (isinstance(steps, int) and steps >= 0), "steps must be a number")
    demand(isinstance(claim["since"], int) and claim["since"] >= 0, "since must be a number")
    demand(bool(claim["always"]) or bool(claim["goal"]) or claim["switches"] is not None, "nothing is claimed")
    over = np.zeros(len(time), bool)
    for end in ends if not claim["goal"] else ():
        over |= certain(loop, [end], values)
    last = (time >= steps) if steps is not None else np.zeros(len(time), bool)
    if claim["goal"]:
        demand(steps is not None, "a goal needs a number of steps")
        over = certain(loop, claim["goal"], values)
        demand(over | halves | ~last, "the goal is not reached in time")
        last = over
        demand(all(end in claim["goal"] for end in ends), "an episode may end before the goal is reached")
    good = certain(loop, claim["always"], values) | (time < claim["since"]) | halves
    demand(good | over if claim["goal"] else good, "what is claimed is not certain on a set")
    demand(claim["switches"] is None or steps is not None, "switches need a number of steps")
    demand(claim["switches"] is None or (count <= claim["switches"]).all(), "there are too many switches")
    return over | last


def check_steps(loop, claim, values, sets, marks, going, edges):
    """From the sets that go on, every branch leads into the set that is named."""
    plant, nodes = loop["plant"], loop["program"]["nodes"]
    rows, low, high = sets
    (time, label, count), size = marks, len(plant["states"])
    edges = np.asarray(edges, dtype=np.int64).reshape(-1, 3)
    leaves = sum("if" not in node for node in nodes)
    table = np.full((len(rows), leaves), -1)
    demand((edges >= 0).all() and (edges < [len(rows), leaves, len(rows)]).all(), "an edge leads nowhere")
    table[edges[:, 0], edges[:, 1]] = edges[:, 2]
    middle = low / 2 + high / 2
    half = np.maximum(high - middle, middle - low)
    for number, leaf, picked, least, most in branches(nodes, features_of(loop, values), going, size):
        if not len(picked):
            continue
        target = table[picked, number]
        demand(target >= 0, f"branch {number} leads nowhere from set {picked[np.argmin(target)]}")
        slack = ROUND * (np.abs(middle[picked]) + half[picked]) + TINY
        inner = (
            np.maximum(low[picked], middle[picked] + half[picked] * least - slack),
            np.minimum(high[picked], middle[picked] + half[picked] * most + slack),
        )
        before = states_of(rows[picked], *inner, plant)
        after, tubes = stepped(loop, leaf, before)
        for tube in tubes:
            demand(
                certain(loop, claim["always"], tube) | (time[picked] < claim["since"]),
                "what is claimed is not certain during a step",
            )
        for row in range(size):
            parts = [after[name] * rows[target, row, index] for index, name in enumerate(plant["states"])]
            image = sum(parts[1:], parts[0])
            demand(
                (image.low >= low[target, row]) & (image.high <= high[target, row]),
                f"branch {number} may leave its set",
            )
        next_time, late = time[target], time[picked] + 1
        exact = bool(claim["goal"]) or claim["switches"] is not None
        demand(next_time == late if exact else next_time >= np.minimum(late, claim["since"]), "steps are miscounted")
        demand(claim["steps"] is None or (next_time <= late).all(), "steps are miscounted")
        if claim["switches"] is not None:
            action = loop["program"]["actions"]["names"].index(leaf["act"]) if "act" in leaf else number
            switched = (label[picked] >= 0) & (label[picked] != action)
            demand((label[target] == action) & (count[target] >= count[picked] + switched), "switches are miscounted")


def stepped(loop, leaf, values):
    """The states after one step, and on the way where the plant is a differential equation."""
    plant, actions, tubes = loop["plant"], loop["program"]["actions"], []
    if "act" in leaf:
        choice = plant["choices"][actions["names"].index(leaf["act"])]
        demand(
            len(choice) == len(plant["inputs"]) and len(actions["names"]) == len(plant["choices"]),
            "an action has no inputs",
        )
        inputs = [values["any"].within(number, number) for number in choice]
    else:
        features, inputs = features_of(loop, values), []
        demand(not plant["choices"] and len(actions["names"]) == len(plant["inputs"]), "outputs are not the inputs")
        for index, name in enumerate(actions["names"]):
            form = linear(leaf["affine"][name], features)
            for source in (actions, plant):
                ends = [
                    infinite if source[side][index] is None else source[side][index]
                    for side, infinite in (("low", -1e300), ("high", 1e300))
                ]
                form = form.clip(*(form.within(end, end) for end in ends))
            inputs.append(form)
    before = values | dict(zip(plant["inputs"], inputs, strict=True))
    moved = dict(before)
    for _ in range(plant["substeps"] if loop["towers"] else 0):
        moved, tube = flow(loop["towers"], moved, plant["sample"] / plant["substeps"])
        tubes.append(tube)
    for name, node in loop["next"].items():
        form = value(node, before)
        slack = 2.0**-40 * (1.0 + form.size)
        moved[name] = form + form.within(-slack, slack)
    return moved, tubes


def states_of(rows, low, high, plant):
    """The states of sets, as forms; x = V y + (1 − V rows) x for any V, here the inverse up to rounding."""
    count, size = low.shape
    back, middle = np.linalg.inv(rows), low / 2 + high / 2
    half = np.maximum(high - middle, middle - low) * (1.0 + ROUND) + TINY
    slopes = np.zeros((size + len(plant["unknowns"]), count, size + len(plant["unknowns"])))
    slopes[np.arange(size), :, np.arange(size)] = half.T
    values = {"any": Form(np.zeros(count), 0.0 * slopes[0], np.zeros(count))}
    sides = [Form(middle[:, index], slopes[index], np.zeros(count)) for index in range(size)]
    rest = (np.abs(np.eye(size) - back @ rows) + ROUND * (np.abs(back) @ np.abs(rows) + np.eye(size))).sum(axis=2)
    demand(rest.max() < 0.5, "rows of a set are nearly dependent")
    for index, name in enumerate(plant["states"]):
        values[name] = sum((side * back[:, index, row] for row, side in enumerate(sides)), values["any"])
    largest = 2.0 * np.max([values[name].size for name in plant["states"]], axis=0)
    for index, name in enumerate(plant["states"]):
        values[name] = values[name] + values[name].within(-rest[:, index] * largest, rest[:, index] * largest)
    for index, (name, least, most) in enumerate(plant["unknowns"], size):
        one = values["any"].within(least, most)
        slopes[index, :, index] = one.error
        values[name] = Form(one.centre, slopes[index], 0.0 * one.error)
    return values


def features_of(loop, values):
    """What the program sees: noise and rounding included."""
    unit, found = 2.0**-24 if loop["plant"]["single"] else ROUND, {"any": values["any"]}
    for name, node, noise in zip(loop["names"], loop["features"], loop["noise"], strict=True):
        slack = noise * (1.0 + ROUND) + (unit + ROUND) * value(node, values).size + 1e-44
        found[name] = value(node, values) + values["any"].within(-slack, slack)
    return found


def linear(row, features):
    """A linear form of the features in 64-bit floats."""
    found = features["any"].within(row["bias"], row["bias"])
    for name, weight in row["weights"].items():
        found = found + features[name] * weight
    size = abs(row["bias"]) + sum(abs(weight) * features[name].size for name, weight in row["weights"].items())
    slack = (4 * len(row["weights"]) + 4) * UNIT * size + TINY
    return found + found.within(-slack, slack)


def branches(nodes, features, picked, size):
    """Each leaf with the sets that may reach it, and bounds of their symbols there."""
    stack, number = [(0, picked, -np.ones((len(picked), size)), np.ones((len(picked), size)))], 0
    while stack:
        index, picked, low, high = stack.pop()
        if "if" not in nodes[index]:
            yield number, nodes[index], picked, low, high
            number += 1
            continue
        form = linear(nodes[index]["if"], features)
        for child, sign in (("else", -1.0), ("then", 1.0)):
            demand(nodes[index][child] > index, "the program has a cycle")
            slopes, slack = sign * form.slopes[picked], 4.0 * ROUND * form.size[picked]
            most = np.maximum(slopes[:, :size] * low, slopes[:, :size] * high)
            total = most.sum(axis=1) + sign * form.centre[picked] + form.error[picked] + slack
            total = total + np.abs(slopes[:, size:]).sum(axis=1)
            bound = -(total[:, None] - most + slack[:, None]) / slopes[:, :size]
            lower = np.where(slopes[:, :size] > 0.0, np.fmax(low, np.fmin(bound, high)), low)
            upper = np.where(slopes[:, :size] < 0.0, np.fmin(high, np.fmax(bound, low)), high)
            kept = ~(total < 0.0)
            stack.append((nodes[index][child], picked[kept], lower[kept], upper[kept]))
