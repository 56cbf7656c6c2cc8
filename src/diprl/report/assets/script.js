"use strict";
(() => {
  const find = (id) => document.getElementById(id);

  function exactNumbers() {
    const box = find("exact");
    const numbers = document.querySelectorAll(".listing data");
    numbers.forEach((number) => { number.dataset.short = number.textContent; number.title = number.value; });
    box.addEventListener("change", () => {
      document.querySelector(".listing").classList.toggle("exact", box.checked);
      numbers.forEach((number) => { number.textContent = box.checked ? number.value : number.dataset.short; });
    });
  }

  function digits(value) {
    if (value === null) return "not a number";
    const size = Math.abs(value);
    const text = value === 0 || (size >= 0.001 && size < 100000) ? String(Number(value.toPrecision(3))) : value.toExponential(1);
    return text.replace("-", "−");
  }

  function clip(polygon, [a, b, c]) {
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

  function slice(episode) {
    const drawing = find("slice");
    if (!drawing) return () => {};
    const [[acrossIndex, left, right], [upIndex, low, high]] = episode.plane;
    const box = [[left, low], [right, low], [right, high], [left, high]];
    const shapes = episode.branches.map(([, colour]) => {
      const shape = drawing.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "polygon"));
      shape.style.setProperty("--c", colour);
      return shape;
    });
    const across = (x) => (100 * (x - left)) / (right - left), down = (y) => (60 * (high - y)) / (high - low);
    const within = (value, limit) => Math.min(Math.max(value, 0), limit);
    return (state) => {
      const lines = episode.conditions.map(([weights, bias]) => {
        const fixed = weights.reduce(
          (sum, weight, index) => sum + (index === acrossIndex || index === upIndex ? 0 : weight * state[index]), bias);
        return [weights[acrossIndex], weights[upIndex], fixed];
      });
      episode.paths.forEach((path, index) => {
        const region = path.reduce(
          (polygon, [number, holds]) => clip(polygon, holds ? lines[number] : lines[number].map((part) => -part)), box);
        shapes[index].setAttribute("points", region.map(([x, y]) => `${across(x)},${down(y)}`).join(" "));
      });
      const here = find("here"), frame = drawing.getBoundingClientRect();
      here.style.left = `${within(across(state[acrossIndex]), 100)}%`;
      here.style.top = `${(within(down(state[upIndex]), 60) / 60) * frame.height}px`;
    };
  }

  function player(episode) {
    const scrub = find("scrub"), button = find("play"), picture = find("picture");
    const last = episode.branch.length - 1;
    const rows = [...document.querySelectorAll(".values li")];
    const features = [...document.querySelectorAll("[data-feature]")];
    const cut = slice(episode);
    let timer = 0;

    function show(step) {
      const number = episode.branch[step], [text, colour] = episode.branches[number];
      const onPath = new Map(episode.paths[number]);
      if (picture) picture.src = step === last ? episode.pictures.at(-1) : episode.pictures[Math.floor(step / episode.stride)];
      find("branch").textContent = number + 1;
      find("branch").style.setProperty("--c", colour);
      find("action").textContent = step === last && episode.ended ? episode.ended : text;
      find("step").textContent = step;
      find("total").textContent = digits(episode.total[step]);
      rows.forEach((row, index) => {
        row.className = onPath.has(index) ? (onPath.get(index) ? "holds" : "fails") : "idle";
        row.querySelector("output").textContent = digits(episode.values[index][step]);
        row.querySelector(".cursor").style.left = `${(100 * step) / Math.max(last, 1)}%`;
      });
      cut(episode.features[step]);
      features.forEach((place, index) => { place.textContent = digits(episode.features[step][index]); });
    }

    function move(step) { scrub.value = step; show(step); }

    function stop() {
      clearInterval(timer);
      timer = 0;
      button.textContent = "▶";
      button.setAttribute("aria-label", "Play");
    }

    function play() {
      if (Number(scrub.value) === last) move(0);
      button.textContent = "❚❚";
      button.setAttribute("aria-label", "Pause");
      const jump = Math.max(1, Math.round(episode.speed / 25));
      timer = setInterval(() => {
        const next = Math.min(Number(scrub.value) + jump, last);
        move(next);
        if (next === last) stop();
      }, (1000 * jump) / episode.speed);
    }

    scrub.addEventListener("input", () => { stop(); show(Number(scrub.value)); });
    button.addEventListener("click", () => (timer ? stop() : play()));
    move(0);
  }

  exactNumbers();
  const data = find("episode-data");
  if (data) player(JSON.parse(data.textContent));
  document.documentElement.dataset.ready = "yes";
})();
