// Where in a plane of two features (or on the line of one) each branch acts, as exact polygons.

function clipPolygon(polygon, [a, b, c]) {
  return polygon.flatMap(([x0, y0], index) => {
    const [x1, y1] = polygon[(index + 1) % polygon.length];
    const first = a * x0 + b * y0 + c, second = a * x1 + b * y1 + c;
    const kept = first >= 0 ? [[x0, y0]] : [];
    if (first * second < 0) {
      const share = first / (first - second);
      kept.push([x0 + share * (x1 - x0), y0 + share * (y1 - y0)]);
    }
    return kept;
  });
}

const polygonArea = (polygon) => Math.abs(polygon.reduce((sum, [x0, y0], index) => {
  const [x1, y1] = polygon[(index + 1) % polygon.length];
  return sum + x0 * y1 - x1 * y0;
}, 0)) / 2;

/** Every branch that acts somewhere in the plane through a state: [place, polygon]. */
function regionsOf(items, state, plane) {
  const [[across, left, right], [up, low, high] = [-1, 0, 1]] = plane;
  const others = elsePlaces(items), found = [], stack = [[0, [[left, low], [right, low], [right, high], [left, high]]]];
  while (stack.length) {
    const [place, polygon] = stack.pop();
    if (polygon.length < 3 || !(polygonArea(polygon) > 0)) continue;
    if (!isCondition(items[place])) {
      found.push([place, polygon]);
      continue;
    }
    const { weights, bias } = items[place];
    const rest = linear(weights.map((weight, index) => (index === across || index === up ? 0 : weight)), bias, state);
    const cut = [weights[across], up < 0 ? 0 : weights[up], rest];
    if (cut[0] === 0 && cut[1] === 0) stack.push([rest > 0 ? place + 1 : others[place], polygon]);
    else stack.push([others[place], clipPolygon(polygon, cut.map((part) => -part))], [place + 1, clipPolygon(polygon, cut)]);
  }
  return found;
}

/** Draws the regions into a layer; `across` and `down` map features to the drawing. */
function drawRegions(layer, items, state, plane, across, down, named) {
  const colours = terminalColours(items), numbers = branchPlaces(items);
  const shapes = regionsOf(items, state, plane).flatMap(([place, polygon]) => {
    const corners = polygon.map(([x, y]) => [across(x), down(y)]);
    const points = corners.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
    const shape = draw("polygon", { class: "region", points, colour: colours[place] });
    if (!named || polygonArea(corners) < 900) return [shape];
    const [x, y] = [0, 1].map((axis) => corners.reduce((sum, corner) => sum + corner[axis], 0) / corners.length);
    const name = draw("text", { class: "region-name", x, y: y + 5, "text-anchor": "middle" }, String(numbers.indexOf(place) + 1));
    return [shape, name];
  });
  layer.replaceChildren(...shapes);
}
