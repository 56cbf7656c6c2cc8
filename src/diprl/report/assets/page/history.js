// What has been edited, with undo and redo. Edits in a row that carry the same name count as one.

class History {
  constructor(items, changed) {
    Object.assign(this, { past: [], items, future: [], original: items, last: "", changed });
  }

  edit(items, name = "") {
    if (!name || name !== this.last) this.past.push(this.items);
    Object.assign(this, { items, future: [], last: name });
    this.changed();
  }

  undo() { this.travel(this.past, this.future); }

  redo() { this.travel(this.future, this.past); }

  travel(from, to) {
    if (!from.length) return;
    to.push(this.items);
    Object.assign(this, { items: from.pop(), last: "" });
    this.changed();
  }

  get edited() { return JSON.stringify(effective(this.items).items) !== JSON.stringify(effective(this.original).items); }
}
