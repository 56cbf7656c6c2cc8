// Why a program acts as it does in one state, in words, and the smallest changes that would make it act otherwise.

const NUDGES = [0, 1e-12, 1e-9, 1e-6, 1e-3];
const MOST_ITEMS = 400;
const MOST_REASONS = 3;
const MOST_TERMS = 3;

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

/** A condition that holds or not as a clause: "y_velocity is below −0.1"; a long one tells what weighs most in it. */
function clause({ weights, bias }, { value, holds, number }, names, seen) {
  const read = weights.flatMap((weight, index) => (weight === 0 ? [] : [index]));
  if (!read.length || read.length > MOST_TERMS) {
    const pull = (index) => (holds ? 1 : -1) * weights[index] * seen[index];
    const most = read.filter((index) => pull(index) > 0).sort((a, b) => pull(b) - pull(a)).slice(0, 2);
    const through = most.length ? `, above all through ${joined(most.map((index) => names[index]))}` : "";
    return `condition ${number} ${holds ? "holds" : "does not hold"}${through}`;
  }
  const side = (greater) => (value === 0 ? "exactly" : greater ? "above" : "below");
  if (read.length === 1) {
    const weight = weights[read[0]];
    return `${names[read[0]]} is ${side((weight > 0) === holds)} ${digits(-bias / weight)}`;
  }
  return `${readable(weights, 0, names)} is ${side(holds)} ${digits(-bias)}`;
}

/** For each feature that can do it alone, the smallest change that leads to another terminal, smallest first. */
function flips({ items, signature }, seen, scales, isSwitch) {
  const decide = decider(items), same = JSON.stringify(items[decide(seen)]), moved = Float64Array.from(seen);
  if (items.length > MOST_ITEMS) return [];
  return signature.features.flatMap((bounds, feature) => {
    const now = seen[feature];
    const values = isSwitch[feature] ? [1 - now] : crossings(items, seen, feature, bounds, scales[feature]);
    for (const value of values) {
      moved[feature] = value;
      const terminal = items[decide(moved)];
      moved[feature] = now;
      if (JSON.stringify(terminal) === same) continue;
      const change = value - now;
      return [{ feature, value, change, terminal, distance: Math.abs(change) / scales[feature], isSwitch: isSwitch[feature] }];
    }
    return [];
  }).sort((a, b) => a.distance - b.distance);
}

/** Values of a feature on and right behind each threshold, within its bounds, the nearest first. */
function crossings(items, seen, feature, { low, high }, scale) {
  const now = seen[feature], changes = [];
  for (const item of items) {
    if (!isCondition(item) || item.weights[feature] === 0) continue;
    const change = -linear(item.weights, item.bias, seen) / item.weights[feature];
    const size = Math.max(Math.abs(change), Math.abs(now), scale * 1e-3);
    for (const nudge of NUDGES) changes.push(change + nudge * size, change - nudge * size);
  }
  const inside = (value) => value >= Math.min(low, now) && value <= Math.max(high, now);
  return changes.sort((a, b) => Math.abs(a) - Math.abs(b)).map((change) => now + change).filter(inside);
}

/** The sentence as parts: [text, is it an action]. */
function explanation(program, seen, scales, isSwitch) {
  const { items, signature } = program, names = signature.features.map((feature) => feature.name);
  const { steps, place } = pathOf(items, seen), does = terminalWords(items[place], signature);
  if (!steps.length) return { parts: [[does, true], [" in every state: the program has no conditions.", false]], others: [] };
  const reasons = reasonsFor(steps, items, names, seen);
  const parts = [[does, true], [`, because ${joined(reasons)}`, false]], others = flips(program, seen, scales, isSwitch);
  if (others.length) {
    const { feature, value, change, terminal, isSwitch: whole } = others[0];
    const where = `${whole ? "" : change > 0 ? "above " : "below "}${digits(value)}`;
    parts.push(["; it would be ", false], [terminalWords(terminal, signature), true]);
    parts.push([` if ${names[feature]} were ${where} (it is ${digits(seen[feature])})`, false]);
  }
  return { parts: [...parts, [".", false]], others };
}

/** The conditions on the way as clauses; a row of them that do not hold is told in one. */
function reasonsFor(steps, items, names, seen) {
  const order = items.flatMap((item, place) => (isCondition(item) ? [place] : []));
  const tell = (step) => clause(items[step.place], { ...step, number: order.indexOf(step.place) + 1 }, names, seen);
  const first = steps.findIndex((step) => step.holds), failing = first < 0 ? steps.length : first;
  const short = steps.every((step) => items[step.place].weights.filter((weight) => weight !== 0).length <= MOST_TERMS);
  if (failing < 2 || (short && steps.length <= MOST_REASONS)) return steps.slice(-MOST_REASONS).map(tell);
  const none = failing === steps.length ? "none of the conditions holds" : `the first ${failing} conditions do not hold`;
  return [none, ...steps.slice(failing).slice(-MOST_REASONS).map(tell)];
}

const joined = (words) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);
