// Gymnasium's CartPole-v1: a pole on a cart that is pushed left (0) or right (1).

const CARTPOLE = {
  horizon: 500,
  speed: 50,
  /** A twin's state is a list of numbers; what a program reads of it is rounded to 32 bits as in Gymnasium. */
  reset(random) { return Float64Array.from({ length: 4 }, () => random.uniform(-0.05, 0.05)); },
  observe(state, seen) {
    for (let index = 0; index < 4; index++) seen[index] = Math.fround(state[index]);
  },
  /** The state that a program would see so, for episodes that begin where a person points. */
  place(seen) { return Float64Array.from(seen); },
  step(state, action) {
    const x = state[0], velocity = state[1], angle = state[2], turning = state[3];
    const cosine = Math.cos(angle), sine = Math.sin(angle), force = action === 1 ? 10 : -10;
    const push = (force + 0.05 * (turning * turning) * sine) / 1.1;
    const twist = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - (0.1 * (cosine * cosine)) / 1.1));
    const acceleration = push - (0.05 * twist * cosine) / 1.1;
    state[0] = x + 0.02 * velocity;
    state[1] = velocity + 0.02 * acceleration;
    state[2] = angle + 0.02 * turning;
    state[3] = turning + 0.02 * twist;
    return 1;
  },
  done(state) { return Math.abs(state[0]) > 2.4 || Math.abs(state[2]) > (12 * 2 * Math.PI) / 360; },
  draw(state, pen, action) {
    const x = 160 + state[0] * 50, tip = [x + 100 * Math.sin(state[2]), 152 - 100 * Math.cos(state[2])];
    pen.line([0, 170], [320, 170], "ground");
    for (const limit of [-2.4, 2.4]) pen.line([160 + limit * 50, 160], [160 + limit * 50, 180], "mark");
    pen.box([x - 26, 150], 52, 24, "body", 5);
    pen.line([x, 152], tip, "limb");
    pen.circle([x, 152], 4.5, "joint");
    if (action !== null) pen.arrow([x + (action ? 34 : -34), 162], [x + (action ? 62 : -62), 162]);
  },
};
