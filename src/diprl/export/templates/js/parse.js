// Reads program text, as printed or as edited by hand.
//
// A program is { task, signature, items }. The items are its conditions { weights, bias } and its terminals
// { action }, { blend } or { rows, bias }, in the order in which they are printed; what stands in which branch
// follows from that order, so nothing here calls itself, however long a chain is.

const MOST_CHARACTERS = 1_000_000;
const MOST_NESTING = 200;

/** The program that a text describes; text without a head needs a signature. */
function parseProgram(text, signature = null) {
  if (text.length > MOST_CHARACTERS) throw new ProgramError(`the program is longer than ${MOST_CHARACTERS} characters`);
  const lines = text.replace(/^\ufeff/, "").split("\n");
  const version = /^#\s*diprl program (\d{1,9})\s*$/.exec(lines[0]);
  if (version && Number(version[1]) !== 1) throw new ProgramError(`the program is of version ${version[1]}, not 1`);
  const [header, start] = splitHeader(lines);
  const own = parseSignature(header);
  if (!own && !signature) throw new ProgramError("the program has no 'features:' and 'actions:' lines: add them");
  if (own && signature && formatHeader(own, "").join() !== formatHeader(signature, "").join()) {
    throw new ProgramError("the program's header differs from the signature that it should have");
  }
  const found = own ?? signature;
  const items = parseBody(lines.slice(start).join("\n"), found, Math.min(start + 1, lines.length));
  return { task: parseTask(header), signature: found, items };
}

/** The items of an if/elif/else chain, or of a single action. */
function parseBody(text, signature, firstLine = 1) {
  const lines = splitLines(text, firstLine), chains = [], items = [];
  const state = { lines, next: 0 };
  while (chains.length || !items.length) {
    const line = takeLine(state, "an action, 'if' or 'else'");
    const keyword = openBranch(line, chains);
    if (keyword) {
      if (keyword.text !== "else") items.push(parseCondition(line, signature));
      line.expect(":");
    } else {
      items.push(parseTerminal(line, state, signature));
      closeBranches(chains);
    }
  }
  if (state.next < lines.length - 1) throw new ProgramSyntaxError(lines[state.next].current, "the end of the program");
  return items;
}

/** The lines that say something, then an empty one; what follows a colon is a line of its own, further in. */
function splitLines(text, firstLine) {
  const rows = text.split("\n").map(expandTabs);
  const lines = rows.flatMap((row, index) => {
    const code = row.split("#")[0].trimEnd(), indent = code.length - code.trimStart().length;
    return [...code.matchAll(/[^:]*:|[^:]+/g)].map(
      (part, level) => new Tokens(part[0], firstLine + index, part.index + 1, indent + level));
  });
  return [...lines, new Tokens("", firstLine + rows.length - 1, rows.at(-1).trimEnd().length + 1, -1)];
}

function expandTabs(row) {
  const parts = row.split("\t");
  return parts.reduce((text, part) => text + " ".repeat(4 - (text.length % 4)) + part);
}

function takeLine(state, expected) {
  if (state.next >= state.lines.length - 1) {
    throw new ProgramSyntaxError(state.lines.at(-1).current, expected, "the program is not complete");
  }
  return state.lines[state.next++];
}

/** The `if`, `elif` or `else` that the line begins with; null where it is a terminal. */
function openBranch(line, chains) {
  const first = line.current;
  let chain = chains.at(-1);
  if (chain && !chain.waiting) {
    if (line.indent !== chain.indent || !["elif", "else"].includes(first.text)) {
      const where = first.text.startsWith("el") ? " at the indentation of its 'if'" : "";
      throw new ProgramSyntaxError(first, `'elif' or 'else'${where}`);
    }
  } else if (chain && line.indent <= chain.indent) {
    throw new ProgramSyntaxError(first, "an indented branch");
  } else if (first.text !== "if") {
    return null;
  } else if (chains.length > MOST_NESTING) {
    throw new ProgramSyntaxError(first, `at most ${MOST_NESTING} nested ifs`);
  } else {
    chain = { indent: line.indent };
    chains.push(chain);
  }
  Object.assign(chain, { keyword: first.text, waiting: true });
  return line.advance();
}

/** After a terminal: every chain that has its `else` is complete, the one around them goes on. */
function closeBranches(chains) {
  while (chains.at(-1)?.keyword === "else") chains.pop();
  if (chains.length) chains.at(-1).waiting = false;
}

function parseCondition(tokens, signature) {
  const names = signature.features.map((feature) => feature.name);
  if (tokens.current.kind === "name" && !names.includes(tokens.current.text)) return parseSet(tokens, names);
  const left = parseLinear(tokens, names, "a feature name");
  const comparison = tokens.current;
  if ([">=", "<=", "==", "!="].includes(comparison.text)) {
    throw new ProgramSyntaxError(comparison, "'>' or '<'", "conditions are strict comparisons");
  }
  if (!tokens.accept(">", "<")) {
    const hint = names.includes(comparison.text) ? `write *${comparison.text} to multiply` : "";
    throw new ProgramSyntaxError(comparison, "'>'", hint);
  }
  const right = parseLinear(tokens, names, "a feature name");
  const [greater, smaller] = comparison.text === ">" ? [left, right] : [right, left];
  addForm(greater, smaller, -1);
  return { weights: weightsOf(greater, names), bias: greater.constant + 0 };
}

/** Reads `state in {3, 7, 9}` or `state not in {3, 7, 9}`. */
function parseSet(tokens, names) {
  const name = tokens.advance(), sign = tokens.accept("not") ? -1 : 1;
  if (!tokens.accept("in")) throw new ProgramSyntaxError(name, "a feature name", didYouMean(name.text, names));
  tokens.expect("{");
  const features = new Set();
  while (!features.size || tokens.accept(",")) {
    const value = tokens.advance(), feature = `${name.text}_is_${value.text}`;
    if (!names.includes(feature)) {
      const hint = features.size ? "" : "a set has the values of one thing";
      throw new ProgramSyntaxError(value, `a value of ${name.text}`, hint);
    }
    features.add(feature);
  }
  tokens.expect("}");
  return { weights: names.map((feature) => (features.has(feature) ? sign : 0)), bias: -0.5 * sign };
}

/** One weight per name; adding zero turns -0 into 0, so that equal programs also print alike. */
function weightsOf(form, names) {
  return names.map((name) => (form.terms.get(name) ?? 0) + 0);
}

function parseTerminal(line, state, signature) {
  const { kind, names } = signature.actions;
  if (kind === "continuous") return parseAffine(line, state, signature);
  if (kind === "discrete") {
    const token = line.advance();
    if (!names.includes(token.text)) {
      throw new ProgramSyntaxError(token, "an action name", didYouMean(token.text, names));
    }
    line.expectEnd();
    return { action: names.indexOf(token.text) };
  }
  const first = line.current, mix = parseLinear(line, names, "a primitive's name");
  line.expectEnd();
  if (mix.constant !== 0) throw new ProgramSyntaxError(first, "weighted primitives only", "a blend has no constant");
  const blend = weightsOf(mix, names);
  if (Math.min(...blend) < 0 || Math.abs(blend.reduce((sum, weight) => sum + weight) - 1) > 1e-9) {
    throw new ProgramError(`blend weights ${blend.join(", ")} must be non-negative and sum to one`);
  }
  return { blend };
}

/** One `output = expression` line per output, in any order. */
function parseAffine(line, state, signature) {
  const outputs = signature.actions.names, names = signature.features.map((feature) => feature.name);
  const forms = new Map(), { indent } = line;
  for (;;) {
    const name = line.advance();
    if (!outputs.includes(name.text) || forms.has(name.text)) {
      const open = outputs.filter((output) => !forms.has(output));
      throw new ProgramSyntaxError(name, "an output that is not set yet", didYouMean(name.text, open));
    }
    line.expect("=");
    forms.set(name.text, parseLinear(line, names, "a feature name"));
    line.expectEnd();
    if (forms.size === outputs.length) break;
    line = takeLine(state, "a line for each output");
    if (line.indent !== indent) {
      const open = outputs.find((output) => !forms.has(output));
      throw new ProgramSyntaxError(line.current, `a line for output ${open}`);
    }
  }
  const ordered = outputs.map((output) => forms.get(output));
  return { rows: ordered.map((form) => weightsOf(form, names)), bias: ordered.map((form) => form.constant + 0) };
}
