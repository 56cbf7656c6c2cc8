// Gymnasium's Pendulum-v1: swing a pendulum up and keep it there with a torque of at most 2 N·m.

const PENDULUM = {
  horizon: 200,
  speed: 30,
  reset(random) { return Float64Array.of(random.uniform(-Math.PI, Math.PI), random.uniform(-1, 1)); },
  observe(state, seen) {
    seen[0] = Math.fround(Math.cos(state[0]));
    seen[1] = Math.fround(Math.sin(state[0]));
    seen[2] = Math.fround(state[1]);
  },
  place(seen) { return Float64Array.of(Math.atan2(seen[1], seen[0]), seen[2]); },
  /** The torque is a 32-bit number, and so are its products with constants. */
  step(state, action) {
    const f32 = Math.fround, torque = f32(action[0]), angle = state[0], speed = state[1], turn = 2 * Math.PI;
    const rest = (angle + Math.PI) % turn, off = (rest < 0 ? rest + turn : rest) - Math.PI;
    const cost = off * off + 0.1 * (speed * speed) + f32(f32(0.001) * f32(torque * torque));
    const next = speed + (15 * Math.sin(angle) + f32(3 * torque)) * 0.05;
    state[1] = Math.min(Math.max(next, -8), 8);
    state[0] = angle + state[1] * 0.05;
    return -cost;
  },
  done() { return false; },
  draw(state, pen, action) {
    const tip = [160 + 72 * Math.sin(state[0]), 100 - 72 * Math.cos(state[0])];
    pen.circle([160, 100], 84, "orbit");
    pen.line([160, 100], tip, "limb");
    pen.circle([160, 100], 5, "joint");
    if (action !== null) pen.arrow([160, 100], [160 + 30 * action[0], 100]);
  },
};
