/** Text as the tables of lists have it, so that no value of a user's can stop the view. */

/** The length that an index takes of a text, in characters. */
export const textCharactersMax = 256;
/** The maximum of words of one row. */
const wordsMax = 200;

/**
 * Cuts a text to the indexed length; U+0000, which PostgreSQL has in no text, becomes U+2400, and half a surrogate pair
 * U+FFFD.
 */
export function indexedText(text: string): string {
  return text.slice(0, textCharactersMax).toWellFormed().replaceAll("\0", "\u2400");
}

/** The words of texts, in lower case: runs of letters and digits, each once. */
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
