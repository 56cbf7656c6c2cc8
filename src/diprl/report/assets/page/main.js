// Puts the live parts of the page together.

const MOST_LINES = 400;
const EPISODES = 1000;

function start(data) {
  const program = parseProgram(data.text), { signature } = program, twin = data.twin ? TWINS[data.twin]() : null;
  const states = data.states.map((state) => Float64Array.from(state, Math.fround));
  const isSwitch = signature.features.map((_, feature) => states.every((state) => state[feature] === 0 || state[feature] === 1));
  let shares = null, here = null;
  const history = new History(program.items, changed);
  const now = () => ({ ...program, items: effective(history.items).items });
  const tuner = new Tuner(find("tuner"), history, (...place) => listing.nameOf(...place));
  const listing = new Listing(find("listing"), tuner, history, signature, (place) => shareOf(place));
  const text = new TextEditor(find("text"), find("complaint"), history, program);
  const board = new Board(find("board"), data.words);
  const starts = twin ? Array.from({ length: EPISODES }, (_, index) => begin(twin, data.evaluation + index)) : [];
  const score = twin ? twinScore(twin, starts) : data.studio ? studioScore(data.studio) : null;
  const scorer = new Scorer(program, score, board, (scored, visits) => { if (visits) { shares = sharesOf(scored, visits); listing.show(); } });
  const plane = planeOf(data, twin, (seen) => { from = twin.place(seen); player.step = 0; replay(); });
  const player = new Debugger(data, signature, episodeOf(data, twin), shown);
  let from = twin ? begin(twin, data.seed) : null;

  /** The share of states in which each item acts, by its place among the edited items. */
  function sharesOf(scored, visits) {
    const total = visits.reduce((sum, count) => sum + count, 0);
    return { items: JSON.stringify(scored.items), of: Array.from(visits, (count) => count / total) };
  }

  function shareOf(place) {
    const { items, places } = effective(history.items), index = places.indexOf(place);
    if (index < 0) return null;
    if (twin) return shares?.items === JSON.stringify(items) ? shares.of[index] : null;
    return here?.[index] ?? null;
  }

  function changed() {
    const { items } = now();
    if (!twin) {
      const decide = decider(items), counts = new Float64Array(items.length);
      states.forEach((state) => counts[decide(state)]++);
      here = counts.map((count) => count / states.length);
    }
    if (history.items.length <= MOST_LINES) listing.show();
    tuner.show();
    text.show();
    replay();
    plane.show(now(), null);
    showDifference(history, program, signature, states);
    for (const [id, off] of [["undo", !history.past.length], ["redo", !history.future.length], ["reset", !history.edited]]) find(id).disabled = off;
    if (score) scorer.request(now());
    document.documentElement.dataset.edited = history.edited ? "yes" : "no";
  }

  function replay() {
    const program = now(), decide = decider(program.items);
    player.load(program, twin ? playEpisode(twin, program, from) : data.moments.map(([seen, total], step) => {
      const values = Float64Array.from(seen, Math.fround);
      return { seen: values, place: decide(values), total, ended: step === data.moments.length - 1 ? data.ended : "" };
    }));
  }

  function shown(moment) {
    const { parts, others } = explanation(now(), moment.seen, data.scales, isSwitch);
    find("why").replaceChildren(...parts.map(([words, strong]) => (strong ? make("strong", {}, words) : words)));
    find("flips").replaceChildren(...others.map(({ feature, value, change, terminal }) => make("li", {},
      make("var", {}, signature.features[feature].name), ` ${signed(change)}, to ${digits(value)}: `, make("strong", {}, terminalWords(terminal, signature)))));
    find("flip-count").textContent = others.length ? `Other changes of one feature (${others.length})` : "No change of one feature alone gives another action.";
    plane.show(now(), moment.seen);
  }

  const name = (data.task || "program").replace(/[^A-Za-z0-9_-]+/g, "_");
  const press = {
    undo: () => history.undo(),
    redo: () => history.redo(),
    reset: () => history.edit(history.original),
    "as-text": () => offer(`${name}.txt`, formatProgram(now())),
    "as-json": () => offer(`${name}.json`, formatJson(now())),
    "as-c": () => offer(`${name}.c`, formatC(now())),
    share: () => shareLink(now()),
  };
  for (const [id, action] of Object.entries(press)) find(id).addEventListener("click", action);
  find("exact").addEventListener("change", (event) => { listing.exact = event.target.checked; listing.show(); });
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || event.target === find("text")) return;
    event.preventDefault();
    if (event.shiftKey) history.redo();
    else history.undo();
  });
  if (!score) board.silent(data.words);
  changed();
  const linked = itemsOf(location.hash, signature);
  if (linked) history.edit(linked);
  if (data.studio) window.studio(history, now, signature, data.studio, () => { board.original = null; scorer.request(now()); });
}

/** What draws the picture of a moment: the twin's strokes, or the pictures that were recorded. */
function episodeOf(data, twin) {
  if (twin) return { speed: twin.speed, picture(moment) {
    const pen = new Pen(find("stage"));
    twin.draw(moment.state, pen, moment.action);
    pen.show();
  } };
  const picture = find("picture"), last = data.moments.length - 1;
  return { speed: data.speed, picture(_, step) {
    if (picture) picture.src = step === last ? data.pictures.at(-1) : data.pictures[Math.floor(step / data.stride)];
  } };
}

/** The large plane through the median state, and the small one through the state at hand. */
function planeOf(data, twin, pointed) {
  const large = find("regions").querySelector("svg"), small = find("slice"), { plane, frame } = data;
  const [[across, left, right], [up, low, high] = [-1, 0, 1]] = plane;
  const x = (value) => frame.left + ((value - left) / (right - left)) * (frame.right - frame.left);
  const y = (value) => frame.bottom - ((value - low) / (high - low)) * (frame.bottom - frame.top);
  const layer = draw("g"), dot = draw("circle", { class: "here", r: 6 });
  large.prepend(layer);
  large.append(dot);
  if (twin?.place && up >= 0) {
    large.classList.add("pointable");
    large.addEventListener("click", (event) => {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(large.getScreenCTM().inverse()), seen = data.medians.slice();
      seen[across] = left + ((point.x - frame.left) / (frame.right - frame.left)) * (right - left);
      seen[up] = low + ((frame.bottom - point.y) / (frame.bottom - frame.top)) * (high - low);
      if (seen[across] >= left && seen[across] <= right && seen[up] >= low && seen[up] <= high) pointed(seen);
    });
  }
  const within = (value, first, last) => Math.min(Math.max(value, Math.min(first, last)), Math.max(first, last));
  return { show(program, seen) {
    if (seen === null) {
      drawRegions(layer, program.items, data.medians, plane, x, y, true);
      showLegend(program);
      return;
    }
    dot.setAttribute("cx", within(x(seen[across]), frame.left, frame.right));
    dot.setAttribute("cy", up < 0 ? frame.bottom - 8 : within(y(seen[up]), frame.top, frame.bottom));
    if (!small || up < 0) return;
    const over = (value) => (100 * (value - left)) / (right - left), down = (value) => (60 * (high - value)) / (high - low);
    drawRegions(small, program.items, seen, plane, over, down, false);
    // A line of no length with round ends stays round although the drawing is stretched.
    const place = `M${within(over(seen[across]), 0, 100)} ${within(down(seen[up]), 0, 60)}h0`;
    small.append(draw("path", { class: "spot rim", d: place }), draw("path", { class: "spot", d: place }));
  } };
}

function showLegend({ items, signature }) {
  const colours = terminalColours(items);
  find("legend").replaceChildren(...branchPlaces(items).map((place, index) => make("span", {},
    make("i", { class: "badge", colour: colours[place] }, String(index + 1)), terminalWords(items[place], signature))));
}

/** What changed, line by line, and in how many of the visited states it matters. */
function showDifference(history, program, signature, states) {
  find("difference").hidden = !history.edited;
  if (!history.edited) return;
  const before = { ...program, items: effective(history.original).items }, after = { ...program, items: effective(history.items).items };
  const rows = lineDiff(formatBody(before), formatBody(after)).map(([sign, line]) =>
    make(sign === "-" ? "del" : sign === "+" ? "ins" : "span", {}, `${sign} ${line}\n`));
  find("diff").replaceChildren(...rows);
  const old = decider(before.items), fresh = decider(after.items);
  const does = (item, state) => JSON.stringify(item.blend ?? terminalAction(item, signature.actions, state));
  const other = states.filter((state) => does(before.items[old(state)], state) !== does(after.items[fresh(state)], state)).length;
  find("otherwise").textContent = `Acts otherwise in ${percent(other / Math.max(states.length, 1))} of the states that the original visits.`;
}

async function shareLink(program) {
  const link = linkOf(program);
  window.history.replaceState(null, "", link);
  try {
    await navigator.clipboard.writeText(location.href);
    find("shared").textContent = "The link is copied.";
  } catch {
    find("shared").textContent = "The link is in the address bar.";
  }
}

if (find("live-data")) start(JSON.parse(find("live-data").textContent));
document.documentElement.dataset.ready = "yes";
