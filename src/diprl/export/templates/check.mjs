// Plays every observation of a file with an exported module: node check.mjs MODULE INPUT OUTPUT WIDTH PRIMITIVES ACTUATORS
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [module, input, output, ...sizes] = process.argv.slice(2);
const [width, primitives, actuators] = sizes.map(Number);
const { play } = await import(pathToFileURL(module));
const bytes = readFileSync(input);
const numbers = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const row = width + primitives * actuators, found = [];
for (let start = 0; start < numbers.length; start += row) {
  const features = numbers.subarray(start, start + width);
  const rows = Array.from({ length: primitives }, (_, index) =>
    numbers.subarray(start + width + index * actuators, start + width + (index + 1) * actuators));
  found.push(play(features, rows));
}
writeFileSync(output, new Uint8Array(Float64Array.from(found.flat()).buffer));
