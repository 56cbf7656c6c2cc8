// What a program means, bit for bit as in diprl's own interpreter.
//
// A linear form is the sum of its non-zero products in feature order, then its bias unless that is zero, added
// from left to right. A condition holds when its form is strictly greater than zero, so NaN makes it false.

const isCondition = (item) => item.weights !== undefined;

/** The value of one linear form. */
function linear(weights, bias, values) {
  let total = 0, empty = true;
  for (let index = 0; index < weights.length; index++) {
    if (weights[index] === 0) continue;
    const product = weights[index] * values[index];
    total = empty ? product : total + product;
    empty = false;
  }
  if (empty) return bias;
  return bias === 0 ? total : total + bias;
}

/** For every condition the place of its `else` branch among the items; its `then` branch comes right after it. */
function elsePlaces(items) {
  const places = new Int32Array(items.length), waiting = [];
  items.forEach((item, place) => {
    if (place && !isCondition(items[place - 1])) places[waiting.pop()] = place;
    if (isCondition(item)) waiting.push(place);
  });
  return places;
}

/** A function from features to the place of the terminal that they reach; made once, fast to call. */
function decider(items) {
  const places = elsePlaces(items);
  const begins = new Int32Array(items.length + 1), features = [], factors = [];
  items.forEach((item, place) => {
    begins[place] = features.length;
    if (isCondition(item)) {
      item.weights.forEach((weight, feature) => {
        if (weight !== 0) { features.push(feature); factors.push(weight); }
      });
    }
  });
  begins[items.length] = features.length;
  const biases = Float64Array.from(items, (item) => (isCondition(item) ? item.bias : 0));
  const condition = Uint8Array.from(items, isCondition);
  const reads = Int32Array.from(features), weights = Float64Array.from(factors);
  return (values) => {
    let place = 0;
    while (condition[place] === 1) {
      let term = begins[place];
      const end = begins[place + 1], bias = biases[place];
      let total = bias;
      if (term < end) {
        total = weights[term] * values[reads[term]];
        for (term++; term < end; term++) total += weights[term] * values[reads[term]];
        if (bias !== 0) total += bias;
      }
      place = total > 0 ? place + 1 : places[place];
    }
    return place;
  };
}

/** Limits a value to [low, high]; what is not a number stays so. */
const clipped = (value, low, high) => (value < low ? low : value > high ? high : value);

/** The action of a terminal: an index, or a clipped vector; a blend needs the primitives' actions, one row each. */
function terminalAction(item, actions, values, primitiveActions) {
  if (item.action !== undefined) return item.action;
  return actions.low.map((low, entry) => {
    const value = item.blend
      ? linear(item.blend, 0, primitiveActions.map((row) => row[entry]))
      : linear(item.rows[entry], item.bias[entry], values);
    return clipped(value, low, actions.high[entry]);
  });
}

/** A function from features (and the primitives' actions) to the program's action. */
function player(program) {
  const decide = decider(program.items);
  return (values, primitiveActions) =>
    terminalAction(program.items[decide(values)], program.signature.actions, values, primitiveActions);
}
