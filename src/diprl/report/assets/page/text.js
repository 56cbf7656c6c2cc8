// The program as text to edit, to take along and to send: errors point at their line and column.

class TextEditor {
  constructor(area, complaint, history, program) {
    Object.assign(this, { area, complaint, history, program });
    area.addEventListener("input", () => this.read());
  }

  show() {
    if (document.activeElement === this.area) return;
    this.area.value = formatBody({ ...this.program, items: effective(this.history.items).items }).join("\n");
    this.area.rows = Math.min(Math.max(this.area.value.split("\n").length + 1, 4), 24);
    this.complain(null);
  }

  read() {
    try {
      const { items } = parseProgram(this.area.value, this.program.signature);
      this.complain(null);
      this.history.edit(items, "text");
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error;
      this.complain(error);
    }
  }

  complain(error) {
    this.area.setAttribute("aria-invalid", String(Boolean(error)));
    this.complaint.hidden = !error;
    this.complaint.replaceChildren();
    if (!error) return;
    const line = error.line ? this.area.value.split("\n")[error.line - 1] ?? "" : "";
    this.complaint.append(make("p", {}, error.message));
    if (error.line) {
      this.complaint.append(make("pre", {}, `${line}\n${" ".repeat(error.column - 1)}^`),
        make("button", { type: "button", class: "quiet", onclick: () => this.goTo(error) }, "show me"));
    }
  }

  goTo({ line, column }) {
    const place = this.area.value.split("\n").slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, column - 1);
    this.area.focus();
    this.area.setSelectionRange(place, place + 1);
  }
}

/** The edit in a link: the body of the program, after the #. */
function linkOf(program) {
  const bytes = new TextEncoder().encode(formatBody(program).join("\n"));
  const packed = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return `#edit=${packed.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/** The items that a link holds; null where it holds none that this program could be. */
function itemsOf(hash, signature) {
  const packed = /^#edit=([A-Za-z0-9_-]+)$/.exec(hash)?.[1];
  if (!packed) return null;
  try {
    const bytes = Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    return parseProgram(new TextDecoder().decode(bytes), signature).items;
  } catch {
    return null;
  }
}

/** Offers a text as a file. */
function offer(name, text) {
  make("a", { download: name, href: `data:text/plain;charset=utf-8,${encodeURIComponent(text)}` }).click();
}
