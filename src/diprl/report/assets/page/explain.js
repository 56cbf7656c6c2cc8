// Why a program acts as it does in one state, in words, and the smallest changes that would make it act otherwise.

const NUDGES = [0, 1e-12, 1e-9, 1e-6, 1e-3];
const MOST_ITEMS = 400;
const MOST_REASONS = 3;

/** The conditions that a state is asked for: { place, value, holds }, and the place of the terminal it reaches. */
function pathOf(items, seen) {
  const others = elsePlaces(items), steps = [];
  let place = 0;
  while (isCondition(items[place])) {
    const value = linear(items[place].weights, items[place].bias, seen), holds = value > 0;
    steps.push({ place, value, holds });
    place = holds ? place + 1 : others[place];
  }
  return { steps, place };
}

/** A condition that holds or not as a clause: "y_velocity is below −0.1". */
function clause(condition, holds, names) {
  const read = condition.weights.flatMap((weight, index) => (weight === 0 ? [] : [index]));
  if (!read.length) return "that condition is always the same";
  if (read.length === 1) {
    const weight = condition.weights[read[0]], threshold = digits(-condition.bias / weight);
    return `${names[read[0]]} is ${(weight > 0) === holds ? "above" : "below"} ${threshold}`;
  }
  return `${readable(condition.weights, 0, names)} is ${holds ? "above" : "below"} ${digits(-condition.bias)}`;
}

/** For each feature that can do it alone, the smallest change that leads to another terminal, smallest first. */
function flips(program, seen, scales) {
  const { items, signature } = program, decide = decider(items), here = items[decide(seen)];
  const same = JSON.stringify(here);
  if (items.length > MOST_ITEMS) return [];
  return signature.features.flatMap(({ low, high }, feature) => {
    const moved = Float64Array.from(seen), now = seen[feature];
    const crossings = items.filter((item) => isCondition(item) && item.weights[feature] !== 0)
      .map((item) => -linear(item.weights, item.bias, seen) / item.weights[feature]).filter(Number.isFinite);
    const size = (change) => Math.max(Math.abs(change), Math.abs(now), scales[feature] * 1e-3);
    const changes = NUDGES.flatMap((nudge) => crossings.flatMap((change) => [change + nudge * size(change), change - nudge * size(change)]));
    changes.sort((a, b) => Math.abs(a) - Math.abs(b));
    for (const change of changes) {
      const value = now + change;
      if (value < Math.min(low, now) || value > Math.max(high, now)) continue;
      moved[feature] = value;
      const terminal = items[decide(moved)];
      if (JSON.stringify(terminal) !== same) return [{ feature, value, change, terminal, distance: Math.abs(change) / scales[feature] }];
    }
    return [];
  }).sort((a, b) => a.distance - b.distance);
}

/** The sentence as parts: [text, is it an action]. */
function explanation(program, seen, scales) {
  const { items, signature } = program, names = signature.features.map((feature) => feature.name);
  const { steps, place } = pathOf(items, seen), does = terminalWords(items[place], signature);
  if (!steps.length) return { parts: [[does, true], [" in every state: the program has no conditions.", false]], others: [] };
  const reasons = reasonsFor(steps, items, names);
  const parts = [[does, true], [`, because ${joined(reasons)}`, false]], others = flips(program, seen, scales);
  if (others.length) {
    const { feature, value, change, terminal } = others[0];
    parts.push(["; it would be ", false], [terminalWords(terminal, signature), true]);
    parts.push([` if ${names[feature]} were ${change > 0 ? "above" : "below"} ${digits(value)} (it is ${digits(seen[feature])})`, false]);
  }
  return { parts: [...parts, [".", false]], others };
}

/** The conditions on the way as clauses; a row of them that do not hold is told in one. */
function reasonsFor(steps, items, names) {
  const told = steps.map((step) => clause(items[step.place], step.holds, names));
  if (steps.length <= MOST_REASONS) return told;
  const first = steps.findIndex((step) => step.holds), failing = first < 0 ? steps.length : first;
  const rest = told.slice(failing), shown = rest.length > MOST_REASONS ? rest.slice(-MOST_REASONS) : rest;
  const none = failing === steps.length ? "none of the conditions holds" : `the first ${failing} conditions do not hold`;
  return failing > 1 ? [none, ...shown] : told.slice(-MOST_REASONS);
}

const joined = (words) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);
