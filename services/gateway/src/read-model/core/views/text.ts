/** Prepares texts for the tables of lists, so that no value of a user can stop the view. */

/** The longest indexed prefix of a text, in characters. */
export const textCharactersMax = 256;
/** The most words of one row. */
const wordsMax = 200;

/**
 * Cuts a text to the indexed length. U+0000, which PostgreSQL cannot store, becomes U+2400, and half a surrogate pair
 * becomes U+FFFD.
 */
export function indexedText(text: string): string {
  return text.slice(0, textCharactersMax).toWellFormed().replaceAll("\0", "\u2400");
}

/** Returns the distinct words of texts in lower case: runs of letters and digits. */
export function wordsOf(texts: readonly string[]): readonly string[] {
  const words = new Set<string>();
  for (const text of texts) {
    for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
      if (words.size >= wordsMax) return [...words];
      words.add(indexedText(word));
    }
  }
  return [...words];
}
