/** MD5 (RFC 1321) of short texts. The hash spreads runs over equal agents; no secret depends on it. */

const SHIFTS = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const;
const SINES = Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32));
const START = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476] as const;
const BLOCK_BYTES = 64;

/** The first eight bytes of the MD5 digest of a text in UTF-8, little-endian: 64 unsigned bits. */
export function md5Le64(text: string): bigint {
  const words = paddedWords(utf8(text));
  let [a, b, c, d]: [number, number, number, number] = [...START];
  for (let block = 0; block < words.length; block += BLOCK_BYTES / 4) {
    const [a0, b0, c0, d0] = [a, b, c, d];
    for (let step = 0; step < 64; step += 1) {
      const { mixed, word } = round(step, b, c, d);
      const sum = (a + mixed + (SINES[step] as number) + (words[block + word] as number)) | 0;
      const shift = SHIFTS[step >> 4]?.[step & 3] as number;
      [a, d, c, b] = [d, c, b, (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0];
    }
    [a, b, c, d] = [(a + a0) | 0, (b + b0) | 0, (c + c0) | 0, (d + d0) | 0];
  }
  return (BigInt(b >>> 0) << 32n) | BigInt(a >>> 0);
}

function round(step: number, b: number, c: number, d: number): { mixed: number; word: number } {
  if (step < 16) return { mixed: (b & c) | (~b & d), word: step };
  if (step < 32) return { mixed: (d & b) | (~d & c), word: (5 * step + 1) % 16 };
  if (step < 48) return { mixed: b ^ c ^ d, word: (3 * step + 5) % 16 };
  return { mixed: c ^ (b | ~d), word: (7 * step) % 16 };
}

/** The padded message as little-endian 32-bit words: the text, a 1 bit, zeros, and the length in bits. */
function paddedWords(bytes: readonly number[]): readonly number[] {
  const blocks = Math.floor((bytes.length + 8) / BLOCK_BYTES) + 1;
  const words = Array.from({ length: (blocks * BLOCK_BYTES) / 4 }, () => 0);
  for (const [at, byte] of [...bytes, 0x80].entries()) {
    words[at >> 2] = (words[at >> 2] as number) | (byte << ((at & 3) * 8));
  }
  words[words.length - 2] = bytes.length * 8;
  return words;
}

function utf8(text: string): readonly number[] {
  const bytes: number[] = [];
  for (const [one] of text.toWellFormed().matchAll(/./gsu)) {
    const encoded = encodeURIComponent(one);
    if (encoded.startsWith("%")) {
      for (const hex of encoded.slice(1).split("%")) bytes.push(Number.parseInt(hex, 16));
    } else bytes.push(one.charCodeAt(0));
  }
  return bytes;
}
