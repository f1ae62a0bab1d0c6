/**
 * Words of full-text search: runs of letters, digits and underscores, in lower case. `loss=0.25` has the words loss, 0
 * and 25.
 */
const word = /[\p{L}\p{N}_]+/gu;

export function wordsOf(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  addWords(words, text);
  return words;
}

export function addWords(words: Set<string>, text: string): void {
  for (const one of text.toLowerCase().match(word) ?? []) words.add(one);
}

/** Reports whether a text contains all these words, in any order. */
export function hasWords(text: string, words: ReadonlySet<string>): boolean {
  const lower = text.toLowerCase();
  // Most lines lack one of the words even as a substring; only the other lines are split into words.
  for (const one of words) if (!lower.includes(one)) return false;
  const own = wordsOf(lower);
  for (const one of words) if (!own.has(one)) return false;
  return true;
}
