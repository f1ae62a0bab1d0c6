/**
 * Chance as a pure function of (seed, stream, counter): Philox4x32-10, the counter-based generator of Salmon, Moraes,
 * Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011, §4. The key is the seed with a hash of the
 * stream's name, and the block is the counter, so no state is kept. The generator passes BigCrush but is not
 * cryptographically secure.
 */

const MULTIPLIER_0 = 0xd2511f53;
const MULTIPLIER_1 = 0xcd9e8d57;
const WEYL_0 = 0x9e3779b9;
const WEYL_1 = 0xbb67ae85;
const ROUNDS = 10;

/** Returns the high 32 bits of the product of two unsigned 32-bit integers. */
function multiplyHigh(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  // None of the intermediate values exceeds 2^32 - 1.
  const low = Math.imul(aLow, bLow);
  const middle = (Math.imul(aHigh, bLow) >>> 0) + (low >>> 16);
  const cross = (Math.imul(aLow, bHigh) >>> 0) + (middle & 0xffff);
  return (Math.imul(aHigh, bHigh) + (middle >>> 16) + (cross >>> 16)) >>> 0;
}

export type Block = readonly [number, number, number, number];

/** Computes one Philox4x32-10 block: four unsigned 32-bit integers from a 128-bit counter and a 64-bit key. */
export function philox(counter: Block, key: readonly [number, number]): Block {
  let [c0, c1, c2, c3] = counter;
  let [k0, k1] = key;
  for (let round = 0; round < ROUNDS; round += 1) {
    const high0 = multiplyHigh(MULTIPLIER_0, c0);
    const low0 = Math.imul(MULTIPLIER_0, c0) >>> 0;
    const high1 = multiplyHigh(MULTIPLIER_1, c2);
    const low1 = Math.imul(MULTIPLIER_1, c2) >>> 0;
    c0 = (high1 ^ c1 ^ k0) >>> 0;
    c1 = low1;
    c2 = (high0 ^ c3 ^ k1) >>> 0;
    c3 = low0;
    k0 = (k0 + WEYL_0) >>> 0;
    k1 = (k1 + WEYL_1) >>> 0;
  }
  return [c0, c1, c2, c3];
}

/**
 * Computes FNV-1a, 32 bits, over the UTF-16 code units. It only separates streams: a collision would correlate two of
 * them.
 */
function hashName(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193) >>> 0;
  }
  return hash;
}

/**
 * Returns four unsigned 32-bit integers: draw number `n` (0 ≤ n < 2^53) of a named stream of a seed (an integer, 0 ≤
 * seed < 2^53).
 */
export function drawBlock(seed: number, stream: string, n: number): Block {
  const counter: Block = [
    n >>> 0,
    Math.floor(n / 0x100000000) >>> 0,
    hashName(stream),
    stream.length,
  ];
  return philox(counter, [seed >>> 0, Math.floor(seed / 0x100000000) >>> 0]);
}

/** Returns draw number `n` of the stream: uniform in [0, 1), with 53 bits. */
export function draw(seed: number, stream: string, n: number): number {
  const [a, b] = drawBlock(seed, stream, n);
  return ((a >>> 5) * 67108864 + (b >>> 6)) / 9007199254740992;
}

/** Returns a uniform integer in [0, below), below ≤ 2^32, with a bias under below / 2^53. */
export function drawInteger(seed: number, stream: string, n: number, below: number): number {
  return Math.floor(draw(seed, stream, n) * below);
}
