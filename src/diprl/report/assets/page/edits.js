// Changes to a program as pure functions of its items. A condition may carry `off`: it is then skipped as if false.

/** Where the branch that begins at a place ends. */
function branchEnd(items, place) {
  for (let open = 1; open > 0; place++) open += isCondition(items[place]) ? 1 : -1;
  return place;
}

/** The program that runs: without what is switched off. `places` says where each item stands in the edited list. */
function effective(items) {
  const others = elsePlaces(items), places = [];
  for (let place = 0; place < items.length; ) {
    if (items[place].off) place = others[place];
    else places.push(place++);
  }
  return { items: places.map((place) => items[place]), places };
}

const replaced = (items, place, item) => items.map((old, index) => (index === place ? item : old));

const switched = (items, place) => replaced(items, place, { ...items[place], off: !items[place].off });

/** Without a condition and what it leads to: what would be asked next takes its place. */
const withoutCondition = (items, place) => [...items.slice(0, place), ...items.slice(elsePlaces(items)[place])];

/** The same condition with the same branch once more, right after itself, to be changed. */
function copied(items, place) {
  const block = items.slice(place, elsePlaces(items)[place]);
  return [...items.slice(0, place), ...block, ...items.slice(place)];
}

/** The condition that a condition would change places with when it moves down; null where there is none. */
function below(items, place) {
  const next = elsePlaces(items)[place];
  return isCondition(items[next]) ? next : null;
}

function above(items, place) {
  const found = elsePlaces(items).indexOf(place);
  return place > 0 && isCondition(items[place]) && found >= 0 && isCondition(items[found]) ? found : null;
}

/** A condition with its branch after the one that follows it. */
function movedDown(items, place) {
  const others = elsePlaces(items), next = below(items, place), end = others[next];
  return [...items.slice(0, place), ...items.slice(next, end), ...items.slice(place, next), ...items.slice(end)];
}

/** Without the branch at a place: its sibling takes the place of the `if` that held both. */
function withoutBranch(items, place) {
  const others = elsePlaces(items), parent = others.indexOf(place);
  if (parent < 0 || !isCondition(items[parent])) return withoutCondition(items, place - 1);
  return [...items.slice(0, parent), ...items.slice(parent + 1, place), ...items.slice(branchEnd(items, place))];
}

/** The linear forms of an item: { weights, bias, names, output }; a blend has no bias. */
function formsOf(item, signature) {
  const names = signature.features.map((feature) => feature.name);
  if (isCondition(item)) return [{ weights: item.weights, bias: item.bias, names, output: "" }];
  if (item.blend) return [{ weights: item.blend, bias: null, names: signature.actions.names, output: "" }];
  if (item.action !== undefined) return [];
  return item.rows.map((weights, row) => ({ weights, bias: item.bias[row], names, output: signature.actions.names[row] }));
}

const numberAt = (item, row, index) => (item.weights ?? item.blend ?? item.rows[row])[index] ?? (item.rows ? item.bias[row] : item.bias);

/** The items with another number: an index beyond the weights means the bias. */
function withNumber(items, place, row, index, value) {
  const item = items[place];
  if (item.blend) return replaced(items, place, { blend: reblended(item.blend, index, value) });
  const set = (list, at, entry) => list.map((old, each) => (each === at ? entry : old));
  if (isCondition(item)) {
    const change = index < item.weights.length ? { weights: set(item.weights, index, value) } : { bias: value };
    return replaced(items, place, { ...item, ...change });
  }
  const change = index < item.rows[row].length
    ? { rows: set(item.rows, row, set(item.rows[row], index, value)) }
    : { bias: set(item.bias, row, value) };
  return replaced(items, place, { ...item, ...change });
}

/** A blend with one weight set and the others scaled, so that they go on summing to one. */
function reblended(blend, index, value) {
  const weight = Math.min(Math.max(value, 0), 1), rest = 1 - blend[index];
  return blend.map((old, each) => {
    if (each === index) return weight;
    return (1 - weight) * (rest > 0 ? old / rest : 1 / (blend.length - 1));
  });
}

const MOST_DIFFERENT = 1000;

/** Two texts line by line: [sign, line] with the sign " ", "-" or "+", by the longest common subsequence. */
function lineDiff(before, after) {
  let start = 0, end = 0;
  const shorter = Math.min(before.length, after.length);
  while (start < shorter && before[start] === after[start]) start++;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const left = before.slice(start, before.length - end), right = after.slice(start, after.length - end);
  const same = (lines) => lines.map((line) => [" ", line]);
  return [...same(before.slice(0, start)), ...differing(left, right), ...same(before.slice(before.length - end))];
}

function differing(before, after) {
  if (before.length > MOST_DIFFERENT || after.length > MOST_DIFFERENT) {
    return [...before.map((line) => ["-", line]), ...after.map((line) => ["+", line])];
  }
  const table = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      table[i][j] = before[i] === after[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    }
  }
  const found = [];
  for (let i = 0, j = 0; i < before.length || j < after.length; ) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      found.push([" ", before[i++]]);
      j++;
    } else if (j >= after.length || (i < before.length && table[i + 1][j] >= table[i][j + 1])) found.push(["-", before[i++]]);
    else found.push(["+", after[j++]]);
  }
  return found;
}
