/**
 * A Bloom filter of the words of many lines (Bloom, CACM 1970): each word's hashes set bits. A word with an unset bit
 * is in none of the lines. About one in a hundred absent words has all its bits set by chance.
 *
 * Most words are numbers that occur in one line only, so an index of words and positions would be as large as the
 * lines.
 */
const bitsPerWord = 10;
const hashesPerWord = 4;

/**
 * Hashes are whole numbers from 0 to 2^34; a bit's place is a hash modulo the number of bits. Stored filters depend on
 * the hashes.
 */
export function hashesOf(word: string): readonly number[] {
  // FNV-1a over the units of the text, from two starting values; the other hashes are sums (Kirsch and Mitzenmacher,
  // 2006).
  let [first, second] = [0x811c9dc5, 0x9747b28c];
  for (let i = 0; i < word.length; i += 1) {
    const unit = word.charCodeAt(i);
    first = Math.imul(first ^ unit, 0x01000193);
    second = Math.imul(second ^ unit, 0x01000193) ^ (second >>> 15);
  }
  const [start, stride] = [mixed(first), mixed(second)];
  return Array.from({ length: hashesPerWord }, (_, n) => start + n * stride);
}

/** The last step of Murmur3: words that differ in their last letter get unrelated hashes. */
function mixed(hash: number): number {
  let value = hash ^ (hash >>> 16);
  value = Math.imul(value, 0x85ebca6b);
  value ^= value >>> 13;
  value = Math.imul(value, 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

/** Bit n is bit n % 8 of byte n / 8. */
export function filterOf(words: ReadonlySet<string>): Uint8Array {
  const filter = new Uint8Array(Math.max(8, Math.ceil((words.size * bitsPerWord) / 8)));
  for (const word of words) {
    for (const hash of hashesOf(word)) {
      const bit = hash % (8 * filter.length);
      filter[bit >> 3] = (filter[bit >> 3] ?? 0) | (1 << (bit & 7));
    }
  }
  return filter;
}

export function mayHave(filter: Uint8Array, word: string): boolean {
  return hashesOf(word).every((hash) => {
    const bit = hash % (8 * filter.length);
    return ((filter[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  });
}
