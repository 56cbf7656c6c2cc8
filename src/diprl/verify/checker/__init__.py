"""Checks a certificate about a closed loop: python -m diprl.verify.checker CERTIFICATE.

A certificate names a program, a plant and a claim, and lists sets {x : low <= rows · x <= high}. Checked is: the first
set contains every start; from each set, every branch of the program leads into the set that is named; and what is
claimed is certain on every set. All arithmetic is rounded outwards, so an accepted claim holds for real numbers,
for the program in 64-bit floats, and for a simulated plant whose steps are right to 2^-40 (1 + |x|).

This folder shares no code with the search for proofs: it needs NumPy only, and may be copied and used alone.
"""
# pyright: reportArgumentType=false, reportCallIssue=false

import numpy as np

from .enclosure import ORDER, ROUND, TINY, UNIT, Form, Refused, demand, derivative, flow, tree, value


def problem_of(certificate):
    """Why a certificate proves nothing; empty where it proves its claim."""
    try:
        with np.errstate(all="ignore"):
            check(certificate)
    except Exception as error:
        return str(error) if isinstance(error, Refused) else f"the certificate cannot be read: {error!r:.200}"
    return ""


def check(certificate):
    """Accept the certificate, or raise."""
    demand(certificate["format"] == "diprl certificate 1", "this is no certificate of a known format")
    loop, claim = loop_of(certificate), certificate["claim"]
    nodes, size = {key: np.asarray(one) for key, one in certificate["nodes"].items()}, len(loop["plant"]["states"])
    rows, low, high = (nodes[key].astype(float) for key in ("rows", "low", "high"))
    demand(0 < size <= 40 and rows.shape[1:] == (size, size), "the sets have the wrong shape")
    demand(low.shape == high.shape == rows.shape[:2], "the sets have the wrong shape")
    demand([nodes[key].shape == rows.shape[:1] for key in ("time", "label", "count")], "the sets have the wrong shape")
    demand([np.isfinite(one).all() for one in (rows, low, high)] + [np.all(low <= high)], "a set is no set")
    demand([nodes[key].dtype == np.int64 for key in ("time", "label", "count")], "a step is no whole number")
    first, last = np.asarray(claim["start"], float)
    demand((rows[0] == np.eye(size)).all() and np.all(first <= last), "the start is not a box")
    demand([nodes["time"][0] == 0, nodes["count"][0] == 0, nodes["label"][0] == -1], "the first set is no start")
    demand(np.all(low[0] <= first) and np.all(last <= high[0]), "the first set does not contain the start")
    values = states_of(rows, low, high, loop["plant"])
    halves = check_splits(certificate["nodes"]["splits"], rows, low, high, nodes)
    over = check_claim(claim, loop, values, nodes, halves)
    check_steps(loop, claim, values, rows, low, high, nodes, np.flatnonzero(~(over | halves)))


def loop_of(certificate):
    """The certificate, with its formulas read once."""
    plant, known = certificate["plant"], {"pi": ("number", float(np.pi))}
    known |= {name: ("number", float(number)) for name, number in plant["constants"].items()}
    constants = dict(known)
    for name, text in plant["define"]:
        known[name] = tree(text, known)
    following, rates = ({name: tree(text, known) for name, text in plant[key]} for key in ("next", "rates"))
    demand(sorted([*following, *rates]) == sorted(plant["states"]), "a state has no equation, or two")
    demand(not plant["after"] and (not rates or plant["method"] == "exact"), "this kind of plant cannot be checked")
    names = [*plant["states"], *plant["inputs"], *(one[0] for one in plant["unknowns"])]
    demand(len(names) == len({*names}) and not {*known, "any"} & {*names}, "a name has two meanings")
    demand([low <= high for _, low, high in plant["unknowns"]], "an unknown has no value")
    demand(plant["substeps"] in range(1, 10_001) and 0.0 < plant["sample"] < np.inf, "a sample takes time")
    demand([0.0 <= one < np.inf for one in certificate["noise"]], "noise must not be negative")
    towers = {name: [("name", name), node] for name, node in rates.items()}
    for tower in towers.values():
        while len(tower) < ORDER + 2:
            tower.append(derivative(tower[-1], rates))
    seen = [tree(text, constants) for _, text in plant["features"]]
    return dict(certificate, following=following, towers=towers, seen=seen, constants=constants)


def certain(loop, texts, values):
    """On which sets all comparisons surely hold."""
    found = np.ones(len(values["any"].centre), bool)
    for text in texts:
        strict, low = ">=" not in text and "<=" not in text, value(tree(text, loop["constants"]), values).low
        demand(">" in text or "<" in text, "a condition must be a comparison")
        found &= low > 0.0 if strict else low >= 0.0
    return found


def check_splits(splits, rows, low, high, nodes):
    """Sets that are cut in two: the halves cover them, and are met at the same step."""
    found = np.zeros(len(rows), bool)
    for whole, first, second in splits:
        demand(0 <= whole < min(first, second), "a set is not cut into later ones")
        same = [nodes[key][[first, second]] == nodes[key][whole] for key in ("rows", "time", "label", "count")]
        demand([np.all(one) for one in same], "halves differ from their set")
        demand(np.all(low[first] <= low[whole]) and np.all(high[second] >= high[whole]), "halves leave a gap")
        cut = np.flatnonzero((high[first] < high[whole]) | (low[second] > low[whole]))
        demand(len(cut) <= 1 and np.all(low[second, cut] <= high[first, cut]), "halves leave a gap")
        found[whole] = True
    return found


def check_claim(claim, loop, values, nodes, halves):
    """What is claimed is certain on every set; gives the sets from which nothing more is claimed."""
    time, steps, since, goal, switches = nodes["time"], *(claim[key] for key in ("steps", "since", "goal", "switches"))
    demand(claim["always"] or goal or switches is not None, "nothing is claimed")
    demand(since >= 0 and (steps is not None or not (goal or switches is not None)), "a number of steps is missing")
    over, last = np.zeros(len(time), bool), time >= (np.inf if steps is None else steps)
    for end in loop["plant"]["ends"]:
        demand(not goal or end in goal, "an episode may end before the goal is reached")
        over |= certain(loop, [end], values)
    if goal:
        over = certain(loop, goal, values)
        demand(over | halves | ~last, "the goal is not reached in time")
        last = over
    good = certain(loop, claim["always"], values) | (time < since) | halves
    demand(good | (over & bool(goal)), "what is claimed is not certain on a set")
    demand(switches is None or np.all(nodes["count"] <= switches), "there are too many switches")
    return over | last


def check_steps(loop, claim, values, rows, low, high, nodes, going):
    """From the sets that go on, every branch leads into the set that is named."""
    states, program = loop["plant"]["states"], loop["program"]["nodes"]
    time, edges = nodes["time"], np.asarray(nodes["edges"], int).reshape(-1, 3)
    table = np.full((len(rows), len(program)), -1)
    demand((edges >= 0).all() and (edges < [len(rows), len(program), len(rows)]).all(), "an edge leads nowhere")
    table[edges[:, 0], edges[:, 1]] = edges[:, 2]
    for number, leaf, picked, least, most in branches(program, features_of(loop, values), going, len(states)):
        target = table[picked, number]
        demand(target >= 0, f"branch {number} leads nowhere")
        middle = low[picked] / 2 + high[picked] / 2
        half = np.maximum(high[picked] - middle, middle - low[picked])
        slack = ROUND * (np.abs(middle) + half) + TINY
        bottom = np.maximum(low[picked], middle + half * least - slack)
        top = np.minimum(high[picked], middle + half * most + slack)
        after, tubes = stepped(loop, leaf, states_of(rows[picked], bottom, top, loop["plant"]))
        for tube in tubes:
            during = certain(loop, claim["always"], tube) | (time[picked] < claim["since"])
            demand(during, "what is claimed is not certain during a step")
        for row in range(len(states)):
            image = sum((after[one] * rows[target, row, i] for i, one in enumerate(states)), after["any"])
            demand(
                (image.low >= low[target, row]) & (image.high <= high[target, row]), f"branch {number} leaves its set"
            )
        check_counts(loop, claim, nodes, picked, target, number, leaf)


def check_counts(loop, claim, nodes, picked, target, number, leaf):
    """Steps and switches are counted as they happen."""
    time, label, count = (nodes[key] for key in ("time", "label", "count"))
    late, counted = time[picked] + 1, claim["switches"] is not None
    least = late if claim["goal"] or counted else np.minimum(late, claim["since"])
    demand(time[target] >= least, "steps are miscounted")
    demand((time[target] <= late) | (claim["steps"] is None), "steps are miscounted")
    action = loop["program"]["actions"]["names"].index(leaf["act"]) if "act" in leaf else number
    switched = (label[picked] >= 0) & (label[picked] != action)
    right = (label[target] == action) & (count[target] >= count[picked] + switched)
    demand(right | (not counted), "switches are miscounted")


def stepped(loop, leaf, values):
    """The states after one step, and on the way where the plant is a differential equation."""
    plant, actions, inputs, tubes = loop["plant"], loop["program"]["actions"], [], []
    demand(len(actions["names"]) == len(plant["choices"] or plant["inputs"]), "the actions are not those of the plant")
    for index, name in enumerate(plant["inputs"]):
        if "act" in leaf:
            number = plant["choices"][actions["names"].index(leaf["act"])][index]
            inputs.append((name, values["any"].within(number, number)))
            continue
        form = linear(leaf["affine"][actions["names"][index]], features_of(loop, values))
        low = max(-1e300 if one["low"][index] is None else one["low"][index] for one in (actions, plant))
        high = min(1e300 if one["high"][index] is None else one["high"][index] for one in (actions, plant))
        form = form.clip(form.within(low, low), form.within(high, high))
        inputs.append((name, form))
    before = values | dict(inputs)
    moved = dict(before)
    for _ in range(plant["substeps"] if loop["towers"] else 0):
        moved, tube = flow(loop["towers"], moved, plant["sample"] / plant["substeps"])
        tubes.append(tube)
    for name, node in loop["following"].items():
        form = value(node, before)
        slack = 2.0**-40 * (1.0 + form.size)
        moved[name] = form + form.within(-slack, slack)
    return moved, tubes


def states_of(rows, low, high, plant):
    """The states of sets, as forms; x = V y + (1 − V rows) x for any V, here the inverse up to rounding."""
    (count, size), unknowns, middle = low.shape, plant["unknowns"], low / 2 + high / 2
    back = np.linalg.inv(rows)
    half = np.maximum(high - middle, middle - low) * (1.0 + ROUND) + TINY
    units = np.broadcast_to(np.eye(size + len(unknowns))[:, None], (size + len(unknowns), count, size + len(unknowns)))
    values = {"any": Form(np.zeros(count), 0.0 * units[0], np.zeros(count))}
    sides = [Form(middle[:, row], units[row] * half[:, [row]], np.zeros(count)) for row in range(size)]
    rest = (np.abs(np.eye(size) - back @ rows) + ROUND * (np.abs(back) @ np.abs(rows) + np.eye(size))).sum(axis=2)
    demand(rest < 0.5, "rows of a set are nearly dependent")
    found = [sum((side * back[:, i, row] for row, side in enumerate(sides)), values["any"]) for i in range(size)]
    largest = 2.0 * np.max([one.size for one in found], axis=0)
    for index, name in enumerate(plant["states"]):
        values[name] = found[index] + found[index].within(-rest[:, index] * largest, rest[:, index] * largest)
    for index, (name, least, most) in enumerate(unknowns, size):
        one = values["any"].within(least, most)
        values[name] = Form(one.centre, units[index] * one.error[:, None], ROUND * one.size)
    return values


def features_of(loop, values):
    """What the program sees: noise and rounding included."""
    unit, found = 2.0**-24 if loop["plant"]["single"] else 0.0, {"any": values["any"]}
    for feature, node, noise in zip(loop["program"]["features"], loop["seen"], loop["noise"], strict=True):
        form = value(node, values)
        slack = noise * (1.0 + ROUND) + (unit + ROUND) * form.size + 1e-44
        found[feature["name"]] = form + form.within(-slack, slack)
    return found


def linear(row, features):
    """A linear form of the features in 64-bit floats."""
    found, size = features["any"].within(row["bias"], row["bias"]), abs(row["bias"])
    for name, weight in row["weights"].items():
        found, size = found + features[name] * weight, size + abs(weight) * features[name].size
    slack = (4 * len(row["weights"]) + 4) * UNIT * size + TINY
    return found + found.within(-slack, slack)


def branches(nodes, features, picked, size):
    """Each leaf with the sets that may reach it, and bounds of their symbols there."""
    stack, number = [(0, picked, -np.ones((len(picked), size)), np.ones((len(picked), size)))], 0
    while stack:
        index, picked, low, high = stack.pop()
        if "if" not in nodes[index]:
            if len(picked):
                yield number, nodes[index], picked, low, high
            number += 1
            continue
        form = linear(nodes[index]["if"], features)
        for child, sign in (("else", -1.0), ("then", 1.0)):
            demand(nodes[index][child] > index, "the program has a cycle")
            slopes, slack = sign * form.slopes[picked], 4.0 * ROUND * form.size[picked]
            mine, others = slopes[:, :size], np.abs(slopes[:, size:]).sum(axis=1)
            most = np.maximum(mine * low, mine * high)
            total = most.sum(axis=1) + sign * form.centre[picked] + form.error[picked] + others + slack
            bound = -(total[:, None] - most + slack[:, None]) / mine
            lower = np.where(mine > 0.0, np.fmax(low, np.fmin(bound, high)), low)
            upper = np.where(mine < 0.0, np.fmin(high, np.fmax(bound, low)), high)
            kept = ~(total < 0.0)
            stack.append((nodes[index][child], picked[kept], lower[kept], upper[kept]))
