// Plays episodes of a twin: one to look at, or many to score a program by.

/** The first state of an episode, the same as Gymnasium's for this seed. */
const begin = (twin, seed) => twin.reset(new Random(seed));

/** An episode as a list of { state, seen, place, action, total }; the last moment has no action. */
function playEpisode(twin, program, start) {
  const { items, signature } = program, decide = decider(items), moments = [];
  const state = start.slice(), width = signature.features.length;
  for (let total = 0, step = 0; ; step++) {
    const seen = new Float64Array(width);
    twin.observe(state, seen);
    const ended = twin.done(state) && step > 0 ? "terminated" : step === twin.horizon ? "truncated" : "";
    const place = decide(seen), action = terminalAction(items[place], signature.actions, seen);
    moments.push({ state: state.slice(), seen, place, action: ended ? null : action, total, ended });
    if (ended) return moments;
    total += twin.step(state, action);
  }
}

/** Scores a program from each start: gives control back after every few episodes, so that a page stays alive. */
function* scoreEpisodes(twin, program, starts) {
  const { items, signature } = program, decide = decider(items), seen = new Float64Array(signature.features.length);
  const returns = new Float64Array(starts.length), visits = new Float64Array(items.length);
  const discrete = signature.actions.kind === "discrete", chosen = items.map((item) => item.action);
  const outputs = new Float64Array(discrete ? 0 : signature.actions.low.length);
  for (let episode = 0; episode < starts.length; episode++) {
    const state = starts[episode].slice();
    let total = 0;
    for (let step = 0; step < twin.horizon; step++) {
      twin.observe(state, seen);
      const place = decide(seen);
      visits[place]++;
      if (!discrete) fillOutputs(items[place], signature.actions, seen, outputs);
      total += twin.step(state, discrete ? chosen[place] : outputs);
      if (twin.done(state)) break;
    }
    returns[episode] = total;
    if (episode % 8 === 7) yield;
  }
  return { returns, visits };
}

/** `terminalAction` of an affine terminal without a new list for each step. */
function fillOutputs(item, actions, seen, outputs) {
  for (let entry = 0; entry < outputs.length; entry++) {
    outputs[entry] = clipped(linear(item.rows[entry], item.bias[entry], seen), actions.low[entry], actions.high[entry]);
  }
}

/** Mean and 95% interval of the mean; the normal's 1.96 does for a thousand episodes. */
function summary(returns) {
  const count = returns.length;
  let mean = 0, squares = 0;
  for (const value of returns) mean += value / count;
  for (const value of returns) squares += (value - mean) ** 2;
  const half = count > 1 ? (1.96 * Math.sqrt(squares / (count - 1))) / Math.sqrt(count) : 0;
  return { mean, low: mean - half, high: mean + half, count };
}
