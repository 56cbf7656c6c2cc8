// One line of program text, read from left to right: tokens, linear forms, and errors that point into it.

const NAME = "[\\p{L}\\p{Nl}\\p{No}_][\\p{L}\\p{N}_]*";
const NUMBER = "(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:[eE][+-]?\\d+)?";
const TOKEN = new RegExp(
  `\\s*(?:(?<number>${NUMBER})|(?<name>${NAME})|(?<symbol>>=|<=|==|!=|[-+*/()=:<>,;\\[\\]−×·])|(?<other>[^#\\s]))`, "yu");
const SPELLINGS = { "−": "-", "×": "*", "·": "*" };
const MOST_PARENTHESES = 40;

/** A program that cannot be used. */
class ProgramError extends Error {}

/** Text that does not parse; says where, and what was expected there. Lines and columns count from one. */
class ProgramSyntaxError extends ProgramError {
  constructor(token, expected, hint = "") {
    const found = token.text ? `'${token.text.slice(0, 40)}'` : "the end of the line";
    super(`line ${token.line}, column ${token.column}: expected ${expected}, found ${found}${hint && ` (${hint})`}`);
    Object.assign(this, { line: token.line, column: token.column, expected, found });
  }
}

/** The tokens of one line up to a comment; an empty token ends them. */
class Tokens {
  constructor(text, line, column = 1, indent = 0) {
    Object.assign(this, { text, line, column, indent });
    this.move(0);
  }

  get ended() { return this.current.kind === "end"; }

  /** Make the first token from a position on the current one. */
  move(position) {
    TOKEN.lastIndex = position;
    const groups = TOKEN.exec(this.text)?.groups ?? {};
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined) ?? "end";
    const text = groups[kind] ?? "";
    this.end = kind === "end" ? position : TOKEN.lastIndex;
    this.start = this.end - text.length;
    this.current = { kind, text: kind === "name" ? text : SPELLINGS[text] ?? text, line: this.line, column: this.column + this.start };
  }

  advance() {
    const token = this.current;
    this.move(this.end);
    return token;
  }

  accept(...texts) { return !this.ended && texts.includes(this.current.text) ? this.advance() : null; }

  expect(text) {
    if (this.current.text !== text) throw new ProgramSyntaxError(this.current, `'${text}'`);
    return this.advance();
  }

  expectEnd() {
    if (!this.ended) throw new ProgramSyntaxError(this.current, "the end of the line");
  }

  /** What matches a sticky pattern from the current token on, stepping past it. */
  read(pattern, expected) {
    pattern.lastIndex = this.start;
    const match = pattern.exec(this.text);
    if (!match) throw new ProgramSyntaxError(this.current, expected);
    this.move(pattern.lastIndex);
    return match;
  }

  /** Everything up to the end as a list with commas in between. */
  items(pattern, expected) {
    const found = [];
    while (!this.ended) {
      found.push(this.read(pattern, expected));
      if (!this.ended) this.expect(",");
    }
    return found;
  }
}

/** The nearest of some names to a misspelt one, or nothing. */
function didYouMean(text, names) {
  const distance = (a, b) => {
    let row = Array.from({ length: b.length + 1 }, (_, index) => index);
    for (let i = 1; i <= a.length; i++) {
      const next = [i];
      for (let j = 1; j <= b.length; j++) {
        next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      }
      row = next;
    }
    return row[b.length];
  };
  const word = text.slice(0, 60);
  const [nearest] = names.map((name) => [distance(word, name), name]).sort((a, b) => a[0] - b[0]);
  return nearest && nearest[0] <= 0.4 * Math.max(word.length, nearest[1].length) ? `did you mean ${nearest[1]}?` : "";
}

/** Reads a linear form as { terms: Map of name to weight, constant }; `kind` says in errors what its names are. */
function parseLinear(tokens, names, kind) {
  const start = tokens.current;
  const form = parseSum(tokens, names, kind, 0);
  if (![form.constant, ...form.terms.values()].every(Number.isFinite)) {
    throw new ProgramSyntaxError(start, "finite numbers", "a number is too large");
  }
  return form;
}

function addForm(total, other, sign) {
  for (const [name, weight] of other.terms) total.terms.set(name, (total.terms.get(name) ?? 0) + sign * weight);
  total.constant += sign * other.constant;
}

function changedForm(form, change) {
  const terms = new Map([...form.terms].map(([name, weight]) => [name, change(weight)]));
  return { terms, constant: change(form.constant) };
}

function parseSum(tokens, names, kind, depth) {
  const total = { terms: new Map(), constant: 0 };
  addForm(total, parseProduct(tokens, names, kind, depth), 1);
  for (let sign; (sign = tokens.accept("+", "-")); ) {
    addForm(total, parseProduct(tokens, names, kind, depth), sign.text === "+" ? 1 : -1);
  }
  return total;
}

function parseProduct(tokens, names, kind, depth) {
  let product = parseFactor(tokens, names, kind, depth);
  for (let operator; (operator = tokens.accept("*", "/")); ) {
    const where = tokens.current;
    let factor = parseFactor(tokens, names, kind, depth);
    if (operator.text === "/" && (factor.terms.size || factor.constant === 0)) {
      throw new ProgramSyntaxError(where, "a number other than zero to divide by");
    }
    if (factor.terms.size && product.terms.size) {
      throw new ProgramSyntaxError(where, "a number", "conditions are linear: two names cannot be multiplied");
    }
    if (factor.terms.size) [product, factor] = [factor, product];
    const by = factor.constant;
    product = changedForm(product, operator.text === "/" ? (value) => value / by : (value) => value * by);
  }
  return product;
}

function parseFactor(tokens, names, kind, depth) {
  let negative = false;
  for (let sign; (sign = tokens.accept("+", "-")); ) negative = negative !== (sign.text === "-");
  const factor = parseAtom(tokens, names, kind, depth);
  return negative ? changedForm(factor, (value) => -value) : factor;
}

function parseAtom(tokens, names, kind, depth) {
  const token = tokens.advance();
  if (token.kind === "number") return { terms: new Map(), constant: Number(token.text) };
  if (token.kind === "name") {
    if (!names.includes(token.text)) throw new ProgramSyntaxError(token, kind, didYouMean(token.text, names));
    return { terms: new Map([[token.text, 1]]), constant: 0 };
  }
  if (token.text !== "(") throw new ProgramSyntaxError(token, `${kind} or a number`);
  if (depth === MOST_PARENTHESES) {
    throw new ProgramSyntaxError(token, `at most ${MOST_PARENTHESES} nested parentheses`);
  }
  const inner = parseSum(tokens, names, kind, depth + 1);
  tokens.expect(")");
  return inner;
}
