// Gymnasium's MountainCar-v0 and MountainCarContinuous-v0: a car in a valley whose engine is weaker than gravity.

const MOUNTAIN_CAR = {
  horizon: 200,
  speed: 30,
  reset(random) { return Float64Array.of(random.uniform(-0.6, -0.4), 0); },
  observe(state, seen) {
    seen[0] = Math.fround(state[0]);
    seen[1] = Math.fround(state[1]);
  },
  place(seen) { return Float64Array.from(seen); },
  step(state, action) {
    let speed = state[1] + ((action - 1) * 0.001 + Math.cos(3 * state[0]) * -0.0025);
    speed = Math.min(Math.max(speed, -0.07), 0.07);
    const position = Math.min(Math.max(state[0] + speed, -1.2), 0.6);
    state[0] = position;
    state[1] = position === -1.2 && speed < 0 ? 0 : speed;
    return -1;
  },
  done(state) { return state[0] >= 0.5 && state[1] >= 0; },
  draw(state, pen, action) { drawHill(state, pen, 0.5, action === null ? 0 : action - 1); },
};

/** Only the first step is taken in 64 bits: after it Gymnasium keeps the state in 32, and computes there. */
const MOUNTAIN_CAR_CONTINUOUS = {
  horizon: 999,
  speed: 30,
  reset(random) { return Float64Array.of(random.uniform(-0.6, -0.4), 0, 1, 0); },
  observe: MOUNTAIN_CAR.observe,
  place(seen) { return Float64Array.of(Math.fround(seen[0]), Math.fround(seen[1]), 0, 0); },
  step(state, action) {
    const f32 = Math.fround, round = state[2] === 1 ? (value) => value : f32;
    const force = f32(action[0]);
    const push = f32(f32(force * f32(0.0015)) - f32(0.0025 * Math.cos(round(3 * state[0]))));
    const fastest = round(0.07), speed = Math.min(Math.max(round(state[1] + push), -fastest), fastest);
    const position = Math.min(Math.max(round(state[0] + speed), round(-1.2)), round(0.6));
    state[3] = position >= round(0.45) && speed >= 0 ? 1 : 0;
    state[0] = f32(position);
    state[1] = f32(position === round(-1.2) && speed < 0 ? 0 : speed);
    state[2] = 0;
    return (state[3] === 1 ? 100 : 0) - force * force * 0.1;
  },
  done(state) { return state[3] === 1; },
  draw(state, pen, action) { drawHill(state, pen, 0.45, action === null ? 0 : action[0]); },
};

function drawHill(state, pen, goal, push) {
  const across = (x) => 10 + ((x + 1.2) / 1.8) * 300, height = (x) => 150 - 52 * Math.sin(3 * x);
  const slope = Array.from({ length: 61 }, (_, index) => -1.2 + (1.8 * index) / 60).map((x) => [across(x), height(x)]);
  pen.path(slope, "ground");
  const flag = [across(goal), height(goal)];
  pen.line(flag, [flag[0], flag[1] - 30], "mark");
  pen.polygon([[flag[0], flag[1] - 30], [flag[0] + 14, flag[1] - 25], [flag[0], flag[1] - 20]], "goal");
  const car = [across(state[0]), height(state[0]) - 9];
  pen.circle(car, 9, "body");
  if (push) pen.arrow([car[0] + 14 * Math.sign(push), car[1]], [car[0] + 14 * Math.sign(push) + 24 * push, car[1]]);
}
