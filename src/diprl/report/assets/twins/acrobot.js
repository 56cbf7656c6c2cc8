// Gymnasium's Acrobot-v1: two hanging links; a motor between them turns with −1, 0 or 1 N·m.

const ACROBOT = {
  horizon: 500,
  speed: 15,
  reset(random) { return Float64Array.from({ length: 4 }, () => Math.fround(random.uniform(-0.1, 0.1))); },
  observe(state, seen) {
    seen[0] = Math.fround(Math.cos(state[0]));
    seen[1] = Math.fround(Math.sin(state[0]));
    seen[2] = Math.fround(Math.cos(state[1]));
    seen[3] = Math.fround(Math.sin(state[1]));
    seen[4] = Math.fround(state[2]);
    seen[5] = Math.fround(state[3]);
  },
  place(seen) { return Float64Array.of(Math.atan2(seen[1], seen[0]), Math.atan2(seen[3], seen[2]), seen[4], seen[5]); },
  step(state, action) {
    const torque = action - 1, interval = 0.2, half = interval / 2;
    const a = state[0], b = state[1], c = state[2], d = state[3], [k1, k2, k3, k4] = ACROBOT_SLOPES;
    acrobotSlope(a, b, c, d, torque, k1);
    acrobotSlope(a + half * k1[0], b + half * k1[1], c + half * k1[2], d + half * k1[3], torque, k2);
    acrobotSlope(a + half * k2[0], b + half * k2[1], c + half * k2[2], d + half * k2[3], torque, k3);
    acrobotSlope(a + interval * k3[0], b + interval * k3[1], c + interval * k3[2], d + interval * k3[3], torque, k4);
    for (let index = 0; index < 4; index++) {
      state[index] += (interval / 6) * (k1[index] + 2 * k2[index] + 2 * k3[index] + k4[index]);
    }
    state[0] = wrappedAngle(state[0]);
    state[1] = wrappedAngle(state[1]);
    state[2] = Math.min(Math.max(state[2], -4 * Math.PI), 4 * Math.PI);
    state[3] = Math.min(Math.max(state[3], -9 * Math.PI), 9 * Math.PI);
    return this.done(state) ? 0 : -1;
  },
  done(state) { return -Math.cos(state[0]) - Math.cos(state[1] + state[0]) > 1; },
  draw(state, pen, action) {
    const reach = 46, place = ([x, y], angle) => [x + reach * Math.sin(angle), y + reach * Math.cos(angle)];
    const shoulder = [160, 104], elbow = place(shoulder, state[0]), tip = place(elbow, state[0] + state[1]);
    pen.line([20, 104 - reach], [300, 104 - reach], "goal");
    pen.line(shoulder, elbow, "limb");
    pen.line(elbow, tip, "limb");
    pen.circle(shoulder, 5, "joint");
    pen.circle(elbow, 5, "joint");
    if (action !== null && action !== 1) pen.arrow([elbow[0], elbow[1]], [elbow[0] + 26 * (action - 1), elbow[1]]);
  },
};

/** Room for the four slopes of a Runge–Kutta step, made once because a step is taken millions of times. */
const ACROBOT_SLOPES = [0, 1, 2, 3].map(() => new Float64Array(4));

/** Sutton and Barto's equations of motion with every mass and length one. */
function acrobotSlope(angle1, angle2, speed1, speed2, torque, slope) {
  const cosine = Math.cos(angle2), sine = Math.sin(angle2);
  const d1 = 0.25 + (1.25 + cosine) + 1 + 1, d2 = 0.25 + 0.5 * cosine + 1;
  const phi2 = 0.5 * 9.8 * Math.cos(angle1 + angle2 - Math.PI / 2);
  const phi1 = -0.5 * (speed2 * speed2) * sine - 2 * 0.5 * speed2 * speed1 * sine +
    1.5 * 9.8 * Math.cos(angle1 - Math.PI / 2) + phi2;
  const acceleration2 = (torque + (d2 / d1) * phi1 - 0.5 * (speed1 * speed1) * sine - phi2) / (1.25 - (d2 * d2) / d1);
  slope[0] = speed1;
  slope[1] = speed2;
  slope[2] = -(d2 * acceleration2 + phi1) / d1;
  slope[3] = acceleration2;
}

function wrappedAngle(angle) {
  while (angle > Math.PI) angle -= 2 * Math.PI;
  while (angle < -Math.PI) angle += 2 * Math.PI;
  return angle;
}
