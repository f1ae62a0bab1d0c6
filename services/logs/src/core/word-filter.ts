/**
 * The words of many lines as a Bloom filter (Bloom, CACM 1970): bits at places that each word's hashes give. A word
 * whose bits are not all there is in none of the lines; of words that are in none, about one in a hundred has its bits
 * at random. Numbers, of which each line has some of its own, make up nearly all words, so an index of words and places
 * would be as large as the lines.
 */
const bitsPerWord = 10;
const hashesPerWord = 4;

/**
 * Whole numbers from 0 to 2^34; a bit's place is one of them modulo the filter's bits. Stored filters depend on them.
 */
export function hashesOf(word: string): readonly number[] {
  // FNV-1a over the units of the text, from two starting points; the others are sums (Kirsch and Mitzenmacher, 2006).
  let [first, second] = [0x811c9dc5, 0x9747b28c];
  for (let i = 0; i < word.length; i += 1) {
    const unit = word.charCodeAt(i);
    first = Math.imul(first ^ unit, 0x01000193);
    second = Math.imul(second ^ unit, 0x01000193) ^ (second >>> 15);
  }
  const [start, stride] = [mixed(first), mixed(second)];
  return Array.from({ length: hashesPerWord }, (_, n) => start + n * stride);
}

/** Murmur3's last step: words that differ in their last letter differ everywhere. */
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
