// The head of program text: the task, the features and the actions.

const KEYS = ["task", "features", "actions", "outputs", "primitives", "actuators"];
const RESERVED = ["if", "elif", "else", "in"];
const BOUND = `[-+−]?(?:inf|${NUMBER})`;
const STRING = '"(?:[^"\\\\]|\\\\.)*"';
const INTERVAL = `\\[\\s*(?<low>${BOUND})\\s*,\\s*(?<high>${BOUND})\\s*\\]`;
const KEY = new RegExp(`^(${NAME})\\s*:`, "u");
const ONE_NAME = new RegExp(NAME, "yu");
const FEATURE = new RegExp(
  `(?<name>${NAME})(?:\\s*\\[(?:\\s*(?<quotedUnit>${STRING})\\s*|(?<unit>[^\\[\\]"#]*))\\])?` +
  `(?:\\s*in\\s*${INTERVAL})?(?:\\s*:\\s*(?<meaning>${STRING}))?`, "yu");
const ACTUATORS = new RegExp(`(?:(?<count>\\d+)\\s*in\\b\\s*)?${INTERVAL}`, "yu");
const REST = new RegExp(`${STRING}|[^#]*`, "yu");

/** The entries of the head as lists of lines, and the index of the first line after it. */
function splitHeader(lines) {
  const header = {};
  let current = [];
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index];
    if (!line.trim() || line.trimStart().startsWith("#")) continue;
    const key = KEY.exec(line);
    if (/^\s/.test(line) && Object.keys(header).length) {
      current.push(new Tokens(line, index + 1));
    } else if (key && KEYS.includes(key[1])) {
      if (header[key[1]]) throw new ProgramError(`line ${index + 1}: the header says '${key[1]}:' twice`);
      header[key[1]] = current = [new Tokens(line.slice(key[0].length), index + 1, key[0].length + 1)];
    } else if (key && key[1] !== "else") {
      const { current: token } = new Tokens(line, index + 1);
      throw new ProgramSyntaxError(token, "a header such as 'features:'", didYouMean(token.text, KEYS));
    } else {
      return [header, index];
    }
  }
  return [header, lines.length];
}

function parseTask(header) {
  const lines = header.task ?? [];
  const text = lines.map((line) => line.read(REST, "a task")[0].trim()).join(" ").trim();
  return text.startsWith('"') ? unquote(text, lines[0]) : text;
}

/** The signature that a head describes, or null where it describes none. */
function parseSignature(header) {
  if (!Object.keys(header).some((key) => key !== "task")) return null;
  if (!header.features) throw new ProgramError("the header has no 'features:' line");
  return checkedSignature({ features: header.features.flatMap(parseFeatures), actions: parseActions(header) });
}

function parseActions(header) {
  const kinds = ["actions", "outputs", "primitives"].filter((key) => header[key]);
  if (kinds.length !== 1 || Boolean(header.actuators) !== (kinds[0] === "primitives")) {
    throw new ProgramError("the header needs one of 'actions:', 'outputs:', or 'primitives:' with 'actuators:'");
  }
  if (kinds[0] === "outputs") {
    const outputs = header.outputs.flatMap(parseFeatures);
    const [names, low, high, units] = ["name", "low", "high", "unit"].map((key) => outputs.map((one) => one[key]));
    return { kind: "continuous", names, low, high, units: units.some(Boolean) ? units : [] };
  }
  const names = header[kinds[0]].flatMap((line) => line.items(ONE_NAME, "a name").map((match) => match[0]));
  if (kinds[0] === "actions") return { kind: "discrete", names };
  const bounds = header.actuators.flatMap(parseActuators);
  return { kind: "primitives", names, low: bounds.map(([low]) => low), high: bounds.map(([, high]) => high) };
}

function parseFeatures(line) {
  return line.items(FEATURE, "a name").map(({ groups }) => {
    const [low, high] = parseBounds(groups);
    const unit = unquote(groups.quotedUnit, line) || (groups.unit ?? "").trim();
    return { name: groups.name, unit, low, high, meaning: unquote(groups.meaning, line) };
  });
}

/** The bounds of `3 in [-1, 1]`, three times, or of `[-1, 1]`, once. */
function parseActuators(line) {
  return line.items(ACTUATORS, "bounds such as [-1, 1]").flatMap(({ groups }) => {
    const count = Number((groups.count ?? "1").slice(0, 8));
    if (count < 1 || count > 10000) throw new ProgramSyntaxError(line.current, "between 1 and 10000 actuators");
    return Array(count).fill(parseBounds(groups));
  });
}

function parseBounds({ low, high }) {
  const number = (text) => Number(text.replace("−", "-").replace("inf", "Infinity")) + 0;
  return low === undefined ? [-Infinity, Infinity] : [number(low), number(high)];
}

function unquote(string, line) {
  try {
    return string ? JSON.parse(string) : "";
  } catch {
    throw new ProgramSyntaxError(line.current, "quoted text with valid escapes");
  }
}

/** The signature, if its names and bounds can be used. */
function checkedSignature(signature) {
  const { features, actions } = signature;
  for (const [kind, names] of [["feature", features.map((one) => one.name)], ["action", actions.names]]) {
    const wrong = names.find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || RESERVED.includes(name));
    if (wrong !== undefined) throw new ProgramError(`${kind} name '${wrong}' is not an identifier: rename it`);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) throw new ProgramError(`${kind} name '${twice}' is used twice: give each its own name`);
    if (!names.length) throw new ProgramError(`a program needs at least one ${kind}`);
  }
  const bounds = [...features, ...(actions.low ?? []).map((low, index) => ({ low, high: actions.high[index] }))];
  if (bounds.some(({ low, high }) => !(low <= high) || low === Infinity || high === -Infinity)) {
    throw new ProgramError("a low bound must not exceed the high one");
  }
  return signature;
}
