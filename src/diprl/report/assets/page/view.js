// Small helpers for what is shown. Text enters the page as text only: nothing here, or that uses this, parses HTML.

const SVG = "http://www.w3.org/2000/svg";
const COLOURS = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#dd8452", "#7f7f7f"];

const find = (id) => document.getElementById(id);

/** An element with attributes, listeners (onclick, …), a colour and children. */
function make(tag, attributes = {}, ...children) {
  return dress(document.createElement(tag), attributes, children);
}

function draw(tag, attributes = {}, ...children) {
  return dress(document.createElementNS(SVG, tag), attributes, children);
}

function dress(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (name === "colour") element.style.setProperty("--c", value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A button with a sign on it and words for those who cannot see the sign. */
function signButton(sign, words, onclick, more = {}) {
  return make("button", { type: "button", title: words, "aria-label": words, onclick, ...more }, sign);
}

/** A number with a few digits and a true minus sign. */
function digits(value, count = 3) {
  if (!Number.isFinite(value)) return "not a number";
  const size = Math.abs(value);
  const text = value === 0 || (size >= 0.001 && size < 100000) ? String(Number(value.toPrecision(count))) : value.toExponential(1);
  return text.replace("-", "−");
}

const signed = (value, count = 3) => (value >= 0 ? "+" : "") + digits(value, count);
const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.001 ? 2 : 1)}%`;

/** The colour of every terminal by its place: discrete actions keep theirs wherever they appear. */
function terminalColours(items) {
  const known = new Map();
  return items.map((item) => {
    if (isCondition(item)) return "";
    const key = JSON.stringify(item);
    if (!known.has(key)) known.set(key, COLOURS[(item.action ?? known.size) % COLOURS.length]);
    return known.get(key);
  });
}

/** The places of the terminals; a branch's number is its place in this list, counted from one. */
const branchPlaces = (items) => items.flatMap((item, place) => (isCondition(item) ? [] : [place]));

/** A linear form with few digits, as a person would read it. */
const readable = (weights, bias, names) =>
  formatLinear(weights, bias, names, (value) => digits(value), "·").replaceAll("-", "−");

/** What a terminal does, in a few words. */
function terminalWords(item, signature) {
  const { names } = signature.actions;
  if (item.action !== undefined) return names[item.action];
  const features = signature.features.map((feature) => feature.name);
  if (item.blend) return readable(item.blend, 0, names);
  return names.map((name, entry) => `${name} = ${readable(item.rows[entry], item.bias[entry], features)}`).join("; ");
}
