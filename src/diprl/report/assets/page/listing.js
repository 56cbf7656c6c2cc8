// The program as lines that can be changed: numbers, actions, and whole conditions.

class Listing {
  /** `history` holds the edits; `shares` is asked for the share of states in which the item at a place acts. */
  constructor(place, tuner, history, signature, shares) {
    Object.assign(this, { place, tuner, history, signature, shares, exact: false, held: false });
    place.addEventListener("pointerdown", () => { this.held = true; });
    addEventListener("click", () => { this.held = false; }, true);
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(() => this.release()));
  }

  /** A click needs the button that it began on: what is to be shown meanwhile waits for its end. */
  release() {
    this.held = false;
    if (this.late) this.show();
  }

  show() {
    this.late = this.held;
    if (this.held) return;
    const kept = document.activeElement?.dataset?.key, { items } = this.history;
    const colours = terminalColours(items), numbers = branchPlaces(items), off = this.switchedOff(items);
    this.place.replaceChildren(...statements(items).map((line) => {
      const row = line.kind === "leaf"
        ? this.leaf(items[line.place], line.place, colours[line.place], numbers.indexOf(line.place) + 1)
        : this.condition(items[line.place], line);
      row.style.setProperty("--indent", line.indent);
      row.classList.toggle("off", off.has(line.kind === "else" ? -1 : line.place));
      return row;
    }));
    if (kept) this.place.querySelector(`[data-key="${CSS.escape(kept)}"]`)?.focus({ preventScroll: true });
  }

  /** The places of conditions that are switched off and of all that they lead to. */
  switchedOff(items) {
    const kept = new Set(effective(items).places);
    return new Set(items.map((_, place) => place).filter((place) => !kept.has(place)));
  }

  condition(item, { kind, place }) {
    const code = make("code", {}, make("b", {}, kind));
    if (kind === "else") {
      code.append(":");
      return make("li", { class: "condition" }, code);
    }
    const set = formatSet(item, this.signature.features.map((feature) => feature.name));
    code.append(" ", ...(set ? [`${set}:`] : [...this.terms(item, place, 0), make("span", { class: "term" }, "> 0:")]));
    return make("li", { class: "condition" }, code, this.tools(item, place));
  }

  tools(item, place) {
    const { history } = this, { items } = history, change = (made) => () => history.edit(made());
    const up = above(items, place), down = below(items, place);
    return make("span", { class: "tools" },
      signButton(item.off ? "○" : "●", item.off ? "switch this condition on" : "switch this condition off",
        change(() => switched(items, place)), { "data-key": `off ${place}`, "aria-pressed": item.off ? "false" : "true" }),
      signButton("↑", "move up", change(() => movedDown(items, up)), { disabled: up === null }),
      signButton("↓", "move down", change(() => movedDown(items, place)), { disabled: down === null }),
      signButton("❐", "copy", change(() => copied(items, place))),
      signButton("✕", "remove", change(() => withoutCondition(items, place))));
  }

  leaf(item, place, colour, number) {
    const share = this.shares(place), { items } = this.history;
    const does = item.action === undefined
      ? make("code", {}, ...formsOf(item, this.signature).flatMap((form, row) => [
        row ? make("br") : null, form.output ? make("var", {}, form.output) : null, form.output ? " = " : null,
        ...this.terms(item, place, row)]).filter(Boolean))
      : this.choice(item, place);
    const never = share === 0 && items.length > 1;
    return make("li", { class: "leaf", colour }, make("span", { class: "badge" }, String(number)), does,
      share === null ? null : make("span", { class: "share", title: "share of visited states" },
        draw("svg", { class: "track", viewBox: "0 0 100 1", preserveAspectRatio: "none", "aria-hidden": "true" },
          draw("rect", { width: 100 * share, height: 1 })), make("span", {}, percent(share))),
      never ? make("span", { class: "never" }, "never acts here ",
        make("button", { type: "button", class: "quiet", onclick: () => this.history.edit(withoutBranch(items, place)) }, "remove it")) : null);
  }

  choice(item, place) {
    const options = this.signature.actions.names.map((name, action) =>
      make("option", { value: action, selected: action === item.action }, name));
    const onchange = (event) => this.history.edit(replaced(this.history.items, place, { action: Number(event.target.value) }));
    return make("select", { class: "action", "aria-label": "action", "data-key": `action ${place}`, onchange }, ...options);
  }

  /** The products of a linear form, each factor as a field. */
  terms(item, place, row) {
    const { weights, bias, names } = formsOf(item, this.signature)[row];
    const entries = [...weights, ...(bias === null ? [] : [bias])].map((value, index) => [value, index]);
    const shown = entries.filter(([value]) => value !== 0);
    return (shown.length ? shown : entries.slice(-1)).flatMap(([value, index], order) => [make("span", { class: "term" },
      make("span", { class: "sign" }, value < 0 ? "−" : order ? "+" : ""), order ? " " : "", this.field(value, place, row, index),
      index < names.length ? "·" : null, index < names.length ? make("var", {}, names[index]) : null), " "]);
  }

  field(value, place, row, index) {
    const size = Math.abs(value), text = this.exact ? repr(size) : digits(size), key = `${place} ${row} ${index}`;
    const set = (number) => this.history.edit(withNumber(this.history.items, place, row, index, number), key);
    const field = make("input", {
      class: "number", value: text, title: repr(size), inputmode: "decimal", autocomplete: "off", spellcheck: "false",
      "data-key": key, "aria-label": this.nameOf(place, row, index), size: Math.max(text.length, 1),
      onfocus: () => this.tuner.choose(place, row, index),
      onchange: () => {
        const number = Number(field.value.replace("−", "-"));
        if (field.value.trim() && Number.isFinite(number)) set(value < 0 ? -number : number);
        else field.value = text;
      },
      onkeydown: (event) => {
        const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        set(nudged(value, step * (event.shiftKey ? 10 : 1)));
      },
    });
    return field;
  }

  nameOf(place, row, index) {
    const { names, output } = formsOf(this.history.items[place], this.signature)[row];
    const what = index < names.length ? `factor of ${names[index]}` : "constant";
    return output ? `${what} in ${output}` : what;
  }
}

/** A number some hundredths larger or smaller, with few digits. */
function nudged(value, hundredths) {
  return Number((value + (Math.abs(value) || 0.1) * 0.01 * hundredths).toPrecision(4));
}

/** One slider for the number that was touched last. */
class Tuner {
  constructor(place, history, nameOf) {
    Object.assign(this, { place, history, nameOf, chosen: null });
    this.slider = make("input", { type: "range", min: -1, max: 1, step: "any", "aria-label": "value",
      oninput: () => this.set(this.at(Number(this.slider.value))) });
    this.name = make("span", { class: "tuned" });
    this.value = make("output", {});
    this.back = signButton("↺", "back to the original number", () => this.set(this.origin));
    place.append(this.name, this.slider, this.value, this.back);
  }

  choose(place, row, index) {
    const number = numberAt(this.history.items[place], row, index);
    this.chosen = { place, row, index };
    this.origin = number;
    this.reach = 2 * Math.abs(number) || 1;
    this.place.hidden = false;
    this.show();
  }

  /** Fine around the original number, coarse far from it. */
  at(share) { return Number((this.origin + this.reach * share * Math.abs(share)).toPrecision(5)); }

  set(number) {
    const { place, row, index } = this.chosen;
    this.history.edit(withNumber(this.history.items, place, row, index, number), `${place} ${row} ${index}`);
  }

  show() {
    const item = this.chosen && this.history.items[this.chosen.place];
    const { row, index } = this.chosen ?? {};
    const number = item && !(item.rows && row >= item.rows.length) && item.action === undefined ? numberAt(item, row, index) : undefined;
    if (number === undefined) {
      this.place.hidden = true;
      return;
    }
    this.name.textContent = this.nameOf(this.chosen.place, row, index);
    this.value.textContent = digits(number, 6);
    const share = (number - this.origin) / this.reach;
    if (document.activeElement !== this.slider) this.slider.value = Math.sign(share) * Math.sqrt(Math.min(Math.abs(share), 1));
  }
}
