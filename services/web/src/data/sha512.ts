/**
 * SHA-512 (FIPS 180-4) of a short text, for pages without `crypto.subtle`: browsers have it over HTTPS and on localhost
 * only. The constants are computed from their definition: the first 64 bits of the fractional parts of square and cube
 * roots of primes.
 */
const mask = (1n << 64n) - 1n;

/** Returns the whole part of the root of a degree, found bit by bit. */
function rootOf(value: bigint, degree: bigint): bigint {
  let root = 0n;
  for (let bit = 1n << 80n; bit > 0n; bit >>= 1n) {
    if ((root | bit) ** degree <= value) root |= bit;
  }
  return root;
}

function firstPrimes(count: number): readonly bigint[] {
  const primes: bigint[] = [];
  for (let n = 2n; primes.length < count; n += 1n) {
    if (primes.every((prime) => n % prime !== 0n)) primes.push(n);
  }
  return primes;
}

const turned = (x: bigint, by: bigint): bigint => ((x >> by) | (x << (64n - by))) & mask;

/** Returns the text's bytes, a bit of 1, zeros, and the length in bits, as words of 64 bits. */
function wordsOf(text: string): readonly bigint[] {
  const bytes = new TextEncoder().encode(text);
  const padded = new Uint8Array(Math.ceil((bytes.length + 17) / 128) * 128);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n);
  return Array.from({ length: padded.length / 8 }, (_, at) => view.getBigUint64(at * 8));
}

/** Returns the 80 words that the rounds of a block use. */
function scheduleOf(block: readonly bigint[]): readonly bigint[] {
  const words = [...block];
  const word = (at: number): bigint => words[at] ?? 0n;
  for (let at = 16; at < 80; at += 1) {
    const [a, b] = [word(at - 15), word(at - 2)];
    const small = turned(a, 1n) ^ turned(a, 8n) ^ (a >> 7n);
    const large = turned(b, 19n) ^ turned(b, 61n) ^ (b >> 6n);
    words.push((word(at - 16) + small + word(at - 7) + large) & mask);
  }
  return words;
}

type Hash = readonly [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint];

function round([a, b, c, d, e, f, g, h]: Hash, added: bigint): Hash {
  const one = turned(e, 14n) ^ turned(e, 18n) ^ turned(e, 41n);
  const first = h + one + ((e & f) ^ (~e & mask & g)) + added;
  const two = turned(a, 28n) ^ turned(a, 34n) ^ turned(a, 39n);
  const second = two + ((a & b) ^ (a & c) ^ (b & c));
  return [(first + second) & mask, a, b, c, (d + first) & mask, e, f, g];
}

/** Returns the SHA-512 of the text's UTF-8 in hexadecimal. */
export function sha512(text: string): string {
  const constants = firstPrimes(80).map((prime) => rootOf(prime << 192n, 3n) & mask);
  const start = firstPrimes(8).map((prime) => rootOf(prime << 128n, 2n) & mask);
  let hash = start as unknown as Hash;
  const words = wordsOf(text);
  for (let at = 0; at < words.length; at += 16) {
    const schedule = scheduleOf(words.slice(at, at + 16));
    const after = constants.reduce(
      (now, constant, n) => round(now, constant + (schedule[n] ?? 0n)),
      hash,
    );
    hash = hash.map((word, n) => (word + (after[n] ?? 0n)) & mask) as unknown as Hash;
  }
  return hash.map((word) => word.toString(16).padStart(16, "0")).join("");
}
