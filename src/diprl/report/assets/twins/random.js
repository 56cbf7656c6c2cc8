// NumPy's default generator (SeedSequence and PCG64), so that an episode's seed means here what it means in Python.

const WORD = 0xffffffffn, LONG = (1n << 64n) - 1n, WIDE = (1n << 128n) - 1n;
const MULTIPLIER = (2549297995355413924n << 64n) + 4865540595714422341n;

/** The eight 32-bit words that NumPy's SeedSequence makes of a seed below 2^32. */
function seedWords(seed) {
  const pool = [], words = [];
  let constant = 0x43b0d7e5;
  const hash = (value) => {
    value ^= constant;
    constant = Math.imul(constant, 0x931e8875);
    value = Math.imul(value, constant);
    return (value ^ (value >>> 16)) >>> 0;
  };
  const mix = (x, y) => {
    const value = Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y);
    return (value ^ (value >>> 16)) >>> 0;
  };
  for (let index = 0; index < 4; index++) pool.push(hash(index ? 0 : seed));
  for (let source = 0; source < 4; source++) {
    for (let target = 0; target < 4; target++) {
      if (source !== target) pool[target] = mix(pool[target], hash(pool[source]));
    }
  }
  constant = 0x8b51f9dd;
  for (let index = 0; index < 8; index++) {
    let value = pool[index % 4] ^ constant;
    constant = Math.imul(constant, 0x58f38ded);
    value = Math.imul(value, constant);
    words.push((value ^ (value >>> 16)) >>> 0);
  }
  return words;
}

/** What `numpy.random.default_rng(seed)` draws. */
class Random {
  constructor(seed) {
    const words = seedWords(seed).map(BigInt);
    const long = (index) => words[2 * index] | (words[2 * index + 1] << 32n);
    this.increment = (((long(2) << 64n) | long(3)) << 1n | 1n) & WIDE;
    this.state = 0n;
    this.advance();
    this.state = (this.state + ((long(0) << 64n) | long(1))) & WIDE;
    this.advance();
    this.half = null;
  }

  advance() { this.state = (this.state * MULTIPLIER + this.increment) & WIDE; }

  next64() {
    this.advance();
    const rotation = this.state >> 122n, value = (this.state >> 64n) ^ (this.state & LONG);
    return ((value >> rotation) | (value << (64n - rotation))) & LONG;
  }

  /** The low half of a draw, then its high half. */
  next32() {
    if (this.half !== null) {
      const kept = this.half;
      this.half = null;
      return kept;
    }
    const value = this.next64();
    this.half = value >> 32n;
    return value & WORD;
  }

  uniform(low, high) { return low + (high - low) * (Number(this.next64() >> 11n) / 9007199254740992); }

  /** A whole number from low to high − 1, by Lemire's method; nothing is drawn where there is no choice. */
  integer(low, high) {
    const size = BigInt(high - low);
    if (size === 1n) return low;
    let product = this.next32() * size;
    if ((product & WORD) < size) {
      const threshold = (WORD + 1n - size) % size;
      while ((product & WORD) < threshold) product = this.next32() * size;
    }
    return low + Number(product >> 32n);
  }
}
