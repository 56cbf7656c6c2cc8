// The score of the edited program beside that of the original, on the same episodes.

class Board {
  constructor(place, words) {
    Object.assign(this, { place, words, original: null });
    this.mean = make("strong", { class: "mean" }, "…");
    this.interval = make("span", { class: "interval" });
    this.change = make("p", { class: "change", role: "status" });
    this.chart = draw("svg", { class: "histogram", viewBox: "0 0 280 110", role: "img", "aria-label": "Returns of the episodes" });
    this.note = make("p", { class: "note" });
    place.append(make("p", { class: "overline" }, "score"), make("p", { class: "result" }, this.mean, " ", this.interval),
      this.change, this.chart, this.note);
  }

  busy() { this.place.classList.add("busy"); }

  /** Says why there is no score. */
  silent(words) {
    this.place.classList.remove("busy");
    this.place.classList.add("silent");
    this.mean.textContent = "–";
    this.note.textContent = words;
  }

  show(returns, milliseconds) {
    this.place.classList.remove("busy", "silent");
    this.original ??= returns;
    const now = summary(returns), fine = Math.max(...returns.map(Math.abs)) < 10 ? 3 : 2;
    const digitsOf = (value) => value.toFixed(fine).replace("-", "−");
    this.mean.textContent = digitsOf(now.mean);
    this.interval.textContent = `${digitsOf(now.low)} to ${digitsOf(now.high)}`;
    const differences = returns.map((value, index) => value - this.original[index]), paired = summary(differences);
    const same = differences.every((value) => value === 0), before = digitsOf(summary(this.original).mean);
    const verdict = same ? "same" : paired.low > 0 ? "better" : paired.high < 0 ? "worse" : "close";
    this.change.className = `change ${verdict}`;
    this.change.textContent = same ? "every episode as in the original"
      : `${paired.mean >= 0 ? "+" : ""}${digitsOf(paired.mean)} (${digitsOf(paired.low)} to ${digitsOf(paired.high)}) against ${before}`;
    this.note.textContent = `${returns.length.toLocaleString("en")} episodes in ${Math.round(milliseconds)} ms. ${this.words}`;
    this.place.dataset.milliseconds = Math.round(milliseconds);
    this.bars(returns, same);
  }

  bars(returns, same) {
    const all = [...returns, ...this.original];
    let low = Math.min(...all), high = Math.max(...all);
    if (high - low < 1e-9) [low, high] = [low - 1, high + 1];
    const count = 28, bins = (values) => {
      const found = new Array(count).fill(0);
      for (const value of values) found[Math.min(count - 1, Math.floor(((value - low) / (high - low)) * count))]++;
      return found;
    };
    const now = bins(returns), before = bins(this.original), most = Math.max(...now, ...before), width = 272 / count;
    // The root of a count, so that a few bad episodes among a thousand good ones are seen.
    const height = (number) => 84 * Math.sqrt(number / most);
    const bar = (style) => (number, index) => draw("rect", { class: style, x: 4 + index * width + 0.5, width: width - 1,
      y: 88 - height(number), height: height(number), rx: 1 });
    const label = (text, x, anchor) => draw("text", { x, y: 104, "text-anchor": anchor }, text);
    this.chart.replaceChildren(...now.map(bar("now")), ...(same ? [] : before.map(bar("before"))),
      draw("path", { class: "axis", d: "M4 88.5H276" }), label(digits(low), 4, "start"), label(digits(high), 276, "end"),
      label(same ? "return" : "filled: edited, outlined: original", 140, "middle"));
  }
}

/** Lets one score follow another: what is asked for while one is made is made after it, and only the last. */
class Scorer {
  constructor(original, score, board, done) {
    Object.assign(this, { original, score, board, done, wanted: null, running: false });
  }

  async request(program) {
    this.wanted = program;
    if (this.running) return;
    this.running = true;
    this.board.busy();
    while (this.wanted) await this.scoreNext();
    this.running = false;
  }

  /** Scores what is wanted, but the original first, since all else is compared with it. */
  async scoreNext() {
    const before = this.board.original, asked = before ? this.wanted : this.original, began = performance.now();
    if (before || JSON.stringify(asked.items) === JSON.stringify(this.wanted.items)) this.wanted = null;
    try {
      const { returns, visits } = await this.score(asked);
      if (this.board.original !== before) this.wanted ??= asked; // other episodes were chosen meanwhile
      else {
        this.board.show(returns, performance.now() - began);
        this.done(asked, visits);
      }
    } catch (error) {
      this.wanted = null;
      this.board.silent(error.message);
    }
  }
}

/** A score from the page's own twin, in slices that leave the page free to answer. */
function twinScore(twin, starts) {
  const channel = new MessageChannel(), breathe = () => new Promise((resolve) => {
    channel.port1.onmessage = resolve;
    channel.port2.postMessage(null);
  });
  return async (program) => {
    const playing = scoreEpisodes(twin, program, starts);
    for (let pause = performance.now() + 12; ; ) {
      const step = playing.next();
      if (step.done) return { returns: Array.from(step.value.returns), visits: step.value.visits };
      if (performance.now() > pause) {
        await breathe();
        pause = performance.now() + 12;
      }
    }
  };
}
