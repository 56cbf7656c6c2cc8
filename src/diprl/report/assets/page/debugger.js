// One episode step by step: the picture, the branch that acts, every condition with its terms, and stops on the way.

const MOST_TRACES = 100;

class Debugger {
  /** `episode` is { speed, picture(moment, step) }; moments are { seen, total, ended, … } as `playEpisode` gives them. */
  constructor(data, signature, episode, shown) {
    Object.assign(this, { data, signature, episode, shown, timer: 0, stops: new Set(), opened: new Map(), step: 0 });
    this.features = [...document.querySelectorAll("[data-feature]")];
    this.scrub = find("scrub");
    this.scrub.addEventListener("input", () => { this.pause(); this.go(Number(this.scrub.value)); });
    const act = { first: () => this.go(0), back: () => this.go(this.step - 1), next: () => this.go(this.step + 1), change: () => this.toChange() };
    for (const [name, action] of Object.entries(act)) find(`step-${name}`).addEventListener("click", () => { this.pause(); action(); });
    find("play").addEventListener("click", () => this.toggle());
    find("episode").addEventListener("keydown", (event) => this.key(event));
  }

  get last() { return this.moments.length - 1; }

  load(program, moments) {
    Object.assign(this, { program, moments });
    const { items } = program;
    this.places = items.flatMap((item, place) => (isCondition(item) ? [place] : []));
    this.traced = this.places.length <= MOST_TRACES ? this.places : [];
    this.colours = terminalColours(items);
    this.numbers = branchPlaces(items);
    this.scrub.max = this.last;
    find("last").textContent = this.last;
    this.strip();
    this.rows();
    this.go(Math.min(this.step, this.last));
  }

  /** Which branch acts when, as a coloured strip. */
  strip() {
    const parts = [];
    for (let start = 0, end; start <= this.last; start = end) {
      for (end = start + 1; end <= this.last && this.moments[end].place === this.moments[start].place; ) end++;
      parts.push(draw("rect", { x: start, y: 0, width: end - start, height: 10, fill: this.colours[this.moments[start].place] }));
    }
    const strip = find("strip");
    strip.setAttribute("viewBox", `0 0 ${this.moments.length} 10`);
    strip.replaceChildren(...parts);
  }

  rows() {
    const names = this.signature.features.map((feature) => feature.name);
    this.lines = this.traced.map((place, order) => {
      const { weights, bias } = this.program.items[place];
      const values = this.moments.map((moment) => linear(weights, bias, moment.seen));
      const set = formatSet({ weights, bias }, names);
      const entries = set ? [] : [...weights, bias].flatMap((weight, index) => (weight === 0 ? [] : [{ weight, index, name: names[index] ?? "constant" }]));
      const bars = entries.map((entry) => {
        const fill = draw("rect", { y: 0, height: 8, rx: 1 });
        const value = make("output", {});
        return { ...entry, fill, value, row: make("li", {}, make("span", {}, entry.name),
          draw("svg", { viewBox: "-100 0 200 8", preserveAspectRatio: "none" }, fill, draw("path", { class: "axis", d: "M0 0V8" })), value) };
      });
      const stop = make("button", { type: "button", class: "stop", "aria-pressed": String(this.stops.has(order)), title: "stop when this condition changes",
        "aria-label": "stop when this condition changes", onclick: () => this.toggleStop(order, stop) });
      const output = make("output", {}, "–"), cursor = make("i", { class: "cursor" });
      const open = make("button", { type: "button", class: "form", onclick: () => { this.opened.set(order, !row.classList.contains("open")); this.go(this.step); } },
        make("code", {}, set ?? `${readable(weights, bias, names)} > 0`));
      const row = make("li", {}, make("div", { class: "head" }, stop, open),
        make("div", { class: "trace" }, make("div", { class: "spark-box" }, sparkline(values), cursor), output),
        make("ul", { class: "terms" }, ...bars.map((bar) => bar.row)));
      return { row, values, bars, output, cursor, place };
    });
    find("values").replaceChildren(...this.lines.map((line) => line.row));
  }

  toggleStop(order, button) {
    if (!this.stops.delete(order)) this.stops.add(order);
    button.setAttribute("aria-pressed", String(this.stops.has(order)));
  }

  go(step) {
    this.step = Math.min(Math.max(step, 0), this.last);
    const moment = this.moments[this.step], { items } = this.program;
    this.scrub.value = this.step;
    const { steps } = pathOf(items, moment.seen), asked = new Map(steps.map((each) => [each.place, each]));
    find("branch").textContent = this.numbers.indexOf(moment.place) + 1;
    find("branch").style.setProperty("--c", this.colours[moment.place]);
    find("action").textContent = moment.ended || terminalWords(items[moment.place], this.signature);
    find("step").textContent = this.step;
    find("total").textContent = digits(moment.total);
    const deciding = steps.at(-1)?.place, many = this.lines.length > 3;
    this.lines.forEach((line, order) => {
      const met = asked.get(line.place);
      const open = this.opened.get(order) ?? (met !== undefined && (!many || line.place === deciding));
      line.row.className = `${met ? (met.holds ? "holds" : "fails") : "idle"}${open ? " open" : ""}`;
      line.output.textContent = digits(line.values[this.step]);
      line.cursor.style.left = `${(100 * this.step) / Math.max(this.last, 1)}%`;
      if (open) this.bars(line, moment.seen);
    });
    this.features.forEach((place, index) => { place.textContent = digits(moment.seen[index]); });
    this.episode.picture(moment, this.step);
    this.shown(moment);
  }

  /** What each product adds, next to the others and to the threshold at zero. */
  bars({ bars, values }, seen) {
    const amounts = bars.map(({ weight, index }) => (index < seen.length ? weight * seen[index] : weight));
    const most = Math.max(...amounts.map(Math.abs), Math.abs(values[this.step]), 1e-12);
    bars.forEach(({ fill, value }, order) => {
      const width = (100 * Math.abs(amounts[order])) / most;
      fill.setAttribute("x", amounts[order] < 0 ? -width : 0);
      fill.setAttribute("width", width);
      fill.setAttribute("class", amounts[order] < 0 ? "down" : "up");
      value.textContent = signed(amounts[order]);
    });
  }

  /** Whether playing on has to stop at a step: a marked condition has another answer than a step before. */
  halts(step) {
    return [...this.stops].some((order) => this.lines[order] && this.lines[order].values[step] > 0 !== this.lines[order].values[step - 1] > 0);
  }

  /** To the next step at which another branch acts. */
  toChange() {
    let step = this.step + 1;
    while (step < this.last && this.moments[step].place === this.moments[this.step].place && !this.halts(step)) step++;
    this.go(step);
  }

  key(event) {
    if (event.target.closest("input, select, textarea, button") && event.target !== this.scrub) return;
    const act = { " ": () => this.toggle(), ArrowRight: () => (event.shiftKey ? this.toChange() : this.go(this.step + 1)),
      ArrowLeft: () => this.go(this.step - 1), Home: () => this.go(0), End: () => this.go(this.last) }[event.key];
    if (!act) return;
    event.preventDefault();
    if (event.key !== " ") this.pause();
    act();
  }

  toggle() { return this.timer ? this.pause() : this.play(); }

  pause() {
    clearInterval(this.timer);
    this.timer = 0;
    find("play").textContent = "▶";
    find("play").setAttribute("aria-label", "Play");
  }

  play() {
    if (this.step === this.last) this.go(0);
    find("play").textContent = "❚❚";
    find("play").setAttribute("aria-label", "Pause");
    const jump = Math.max(1, Math.round(this.episode.speed / 25));
    this.timer = setInterval(() => {
      for (let count = 0; count < jump; count++) {
        const halt = this.step < this.last && this.halts(this.step + 1);
        this.step = Math.min(this.step + 1, this.last);
        if (halt || this.step === this.last) { this.pause(); break; }
      }
      this.go(this.step);
    }, (1000 * jump) / this.episode.speed);
  }
}

/** The value of one condition over the episode, around zero. */
function sparkline(values) {
  const sizes = values.map(Math.abs).filter(Number.isFinite).sort((a, b) => a - b);
  const limit = sizes[Math.floor(0.99 * (sizes.length - 1))] || 1, every = Math.max(1, Math.floor(values.length / 400));
  const points = values.flatMap((value, step) => (step % every ? [] : [`${step} ${(17 - 16 * Math.min(Math.max(value / limit, -1), 1)).toFixed(1)}`]));
  const last = Math.max(values.length - 1, 1);
  return draw("svg", { viewBox: `0 0 ${last} 34`, preserveAspectRatio: "none", "aria-hidden": "true" },
    draw("path", { class: "zero", d: `M0 17H${last}` }), draw("path", { class: "spark", d: `M${points.join("L")}` }));
}
