// Draws a twin's state with a few strokes; their colours come from the style sheet.

class Pen {
  constructor(svg) {
    this.svg = svg;
    this.shapes = [];
  }

  line([x1, y1], [x2, y2], style) { this.shapes.push(draw("line", { x1, y1, x2, y2, class: style })); }

  circle([cx, cy], r, style) { this.shapes.push(draw("circle", { cx, cy, r, class: style })); }

  box([x, y], width, height, style, rx) { this.shapes.push(draw("rect", { x, y, width, height, rx, class: style })); }

  path(points, style) { this.shapes.push(draw("polyline", { points: points.map((point) => point.join()).join(" "), class: style })); }

  polygon(points, style) { this.shapes.push(draw("polygon", { points: points.map((point) => point.join()).join(" "), class: style })); }

  arrow([x1, y1], [x2, y2]) {
    const length = Math.hypot(x2 - x1, y2 - y1);
    if (length < 2) return;
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length], head = Math.min(8, length);
    const base = [x2 - head * ux, y2 - head * uy];
    this.line([x1, y1], base, "arrow");
    this.polygon([[x2, y2], [base[0] - 5 * uy, base[1] + 5 * ux], [base[0] + 5 * uy, base[1] - 5 * ux]], "arrow");
  }

  show() { this.svg.replaceChildren(...this.shapes); }
}
