// Prints programs: as text that parses back to the same program, as JSON, and as plain C.

const LINE_WIDTH = 110;

/** A number as Python prints it: the shortest digits that read back exactly. */
function repr(value) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value < 0 ? "-inf" : "inf";
  const [digits, power] = value.toExponential().split("e").map((part, index) => (index ? Number(part) : part));
  if (power < -4 || power >= 16) {
    return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  const text = String(value);
  return text.includes(".") ? text : `${text}.0`;
}

const shortNumber = (value) => repr(value).replace(/\.0$/, "");

/** A linear form in the order in which it is added; `number` prints a number that is not negative. */
function formatLinear(weights, bias, names, number = shortNumber, times = "*") {
  let text = "";
  [...weights, bias].forEach((weight, index) => {
    if (weight === 0) return;
    const name = names[index] ?? "", size = Math.abs(weight);
    const sign = text ? (weight < 0 ? " - " : " + ") : weight < 0 ? "-" : "";
    const factor = name && size === 1 ? "" : number(size);
    text += sign + factor + (factor && name ? times : "") + name;
  });
  return text || number(0);
}

/** The lines of a program: { indent, kind, place }, kind being if, elif, else or leaf, place the item's. */
function statements(items) {
  const places = elsePlaces(items), found = [], stack = [[0, "if", 0]];
  while (stack.length) {
    const [indent, kind, place] = stack.pop();
    if (kind === "else" || !isCondition(items[place])) {
      found.push({ indent, kind: kind === "else" ? "else" : "leaf", place });
      continue;
    }
    found.push({ indent, kind, place });
    const other = places[place];
    if (isCondition(items[other])) stack.push([indent, "elif", other]);
    else stack.push([indent + 1, "if", other], [indent, "else", other]);
    stack.push([indent + 1, "if", place + 1]);
  }
  return found;
}

/** One line per terminal, or per output of an affine one. */
function formatTerminal(item, signature) {
  const { names } = signature.actions, features = signature.features.map((feature) => feature.name);
  if (item.action !== undefined) return [names[item.action]];
  if (item.blend) return [formatLinear(item.blend, 0, names)];
  return names.map((name, entry) => `${name} = ${formatLinear(item.rows[entry], item.bias[entry], features)}`);
}

/** The set of values that a condition asks for, as text; null for any other linear form. */
function formatSet({ weights, bias }, names) {
  const read = weights.flatMap((weight, index) => {
    const [, thing, value] = /^([A-Za-z_][A-Za-z0-9_]*)_is_(0|[1-9][0-9]{0,8})$/.exec(names[index]) ?? [];
    return weight === 0 ? [] : [{ thing: weight === -2 * bias ? thing : undefined, value: Number(value) }];
  });
  const [name] = read.map(({ thing }) => thing);
  if (Math.abs(bias) !== 0.5 || name === undefined || read.some(({ thing }) => thing !== name)) return null;
  const values = read.map(({ value }) => value).sort((one, other) => one - other);
  return `${name}${bias < 0 ? "" : " not"} in {${values.join(", ")}}`;
}

/** The lines of the if/elif/else chain; a bare action is a single line. */
function formatBody({ items, signature }) {
  const names = signature.features.map((feature) => feature.name);
  return statements(items).flatMap(({ indent, kind, place }) => {
    const item = items[place];
    const lines = kind === "else" ? ["else:"]
      : kind === "leaf" ? formatTerminal(item, signature)
      : [`${kind} ${formatSet(item, names) ?? `${formatLinear(item.weights, item.bias, names)} > 0`}:`];
    return lines.map((line) => "    ".repeat(indent) + line);
  });
}

/** The whole text: version, head and body. */
function formatProgram(program) {
  const head = ["# diprl program 1", ...formatHeader(program.signature, program.task)];
  return [...head, "", ...formatBody(program)].join("\n") + "\n";
}

function formatHeader({ features, actions }, task) {
  const lines = task ? [`task: ${bareOrQuoted(task)}`] : [];
  lines.push(...formatEntry("features", features.map(formatFeature)));
  if (actions.kind === "discrete") return [...lines, ...formatEntry("actions", actions.names)];
  const bounds = actions.low.map((low, index) => `[${repr(low)}, ${repr(actions.high[index])}]`);
  if (actions.kind === "continuous") {
    const outputs = actions.names.map((name, index) => formatFeature(
      { name, unit: actions.units?.[index] ?? "", low: actions.low[index], high: actions.high[index], meaning: "" }));
    return [...lines, ...formatEntry("outputs", outputs)];
  }
  const same = new Set(bounds).size === 1 ? [`${bounds.length} in ${bounds[0]}`] : bounds;
  return [...lines, ...formatEntry("primitives", actions.names), ...formatEntry("actuators", same)];
}

/** One line where it fits, else one line per item. */
function formatEntry(key, items) {
  const line = `${key}: ${items.join(", ")}`.trimEnd();
  return line.length <= LINE_WIDTH ? [line] : [`${key}:`, ...items.map((item) => `    ${item}`)];
}

function formatFeature({ name, unit, low, high, meaning }) {
  const bounded = low !== -Infinity || high !== Infinity;
  return name + (unit ? ` [${bareOrQuoted(unit)}]` : "") + (bounded ? ` in [${repr(low)}, ${repr(high)}]` : "") +
    (meaning ? `: ${quoted(meaning)}` : "");
}

const isPrintable = (text) => !/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u.test(text);
const asciiOnly = (json) => json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
const quoted = (text) => (isPrintable(text) ? JSON.stringify(text) : asciiOnly(JSON.stringify(text)));
const bareOrQuoted = (text) =>
  /^[^[\]"#\s](?:[^[\]"#]*[^[\]"#\s])?$/.test(text) && isPrintable(text) ? text : quoted(text);

/** The program as diprl writes it to a .json file. */
function formatJson({ task, signature, items }) {
  const places = elsePlaces(items), { features, actions } = signature;
  const sparse = (weights, names) => Object.fromEntries(
    weights.flatMap((weight, index) => (weight === 0 ? [] : [[names[index], weight]])));
  const names = features.map((feature) => feature.name);
  const form = (weights, bias) => ({ weights: sparse(weights, names), bias });
  const nodes = items.map((item, place) => {
    if (isCondition(item)) {
      return { if: form(item.weights, item.bias), then: BigInt(place + 1), else: BigInt(places[place]) };
    }
    if (item.action !== undefined) return { act: actions.names[item.action] };
    if (item.blend) return { blend: sparse(item.blend, actions.names) };
    const rows = actions.names.map((name, entry) => [name, form(item.rows[entry], item.bias[entry])]);
    return { affine: Object.fromEntries(rows) };
  });
  return `${printJson({ schema: 1n, task, features, actions, nodes }, "\n")}\n`;
}

/** JSON as Python prints it with an indent of one: numbers are floats, BigInts are whole, infinities null. */
function printJson(value, newline) {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") return Number.isFinite(value) ? repr(value) : "null";
  if (typeof value === "string") return asciiOnly(JSON.stringify(value));
  const inner = `${newline} `, list = Array.isArray(value);
  const entries = list
    ? value.map((entry) => printJson(entry, inner))
    : Object.entries(value).map(([key, entry]) => `${asciiOnly(JSON.stringify(key))}: ${printJson(entry, inner)}`);
  const [open, close] = list ? "[]" : "{}";
  return entries.length ? open + inner + entries.join(`,${inner}`) + newline + close : open + close;
}

/** One C function in double precision; `diprl export --to c` adds a header, input checks and single precision. */
function formatC({ task, signature, items }) {
  const { features, actions } = signature, discrete = actions.kind === "discrete";
  const say = (text) => `/* ${text.replace(/[^ -~]/g, "?").replaceAll("*/", "* /").replace(/\\+$/, "")} */`;
  const inputs = features.map((_, index) => `features[${index}]`), constant = (value) =>
    Number.isFinite(value) ? repr(value) : value < 0 ? "(-INFINITY)" : "INFINITY";
  const leaf = (item) => {
    if (discrete) return [`return ${item.action}; ${say(actions.names[item.action])}`];
    const mixed = (entry) => actions.names.map((_, index) => `primitive_actions[${index * actions.low.length + entry}]`);
    const lines = actions.low.flatMap((low, entry) => [
      `action[${entry}] = ${item.blend
        ? formatLinear(item.blend, 0, mixed(entry), repr, " * ")
        : formatLinear(item.rows[entry], item.bias[entry], inputs, repr, " * ")};`,
      `if (action[${entry}] < ${constant(low)}) { action[${entry}] = ${constant(low)}; }`,
      `else if (action[${entry}] > ${constant(actions.high[entry])}) { action[${entry}] = ${constant(actions.high[entry])}; }`,
    ]);
    return [...lines, "return;"];
  };
  const places = elsePlaces(items), body = [], stack = [[1, 0]];
  while (stack.length) {
    const [level, place] = stack.pop(), item = items[place], indent = "    ".repeat(level);
    if (place === null) body.push(`${indent}}`);
    else if (!isCondition(item)) body.push(...leaf(item).map((line) => indent + line));
    else {
      body.push(`${indent}if (${formatLinear(item.weights, item.bias, inputs, repr, " * ")} > 0.0) {`);
      stack.push([level, places[place]], [level, null], [level + 1, place + 1]);
    }
  }
  const more = actions.kind === "primitives" ? ", const double *primitive_actions" : "";
  const result = discrete ? "int play(const double *features)" : `void play(const double *features${more}, double *action)`;
  return [
    say(task ? `A program for ${task}` : "A program"),
    ...features.map(({ name, unit }, index) => say(`features[${index}]: ${name}${unit ? ` [${unit}]` : ""}`)),
    say("Compile with -ffp-contract=off and without -ffast-math: products and sums must round one by one."),
    "#include <math.h>", "", result, "{", "    (void)features;", ...body, "}", "",
  ].join("\n");
}
