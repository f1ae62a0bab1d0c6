/** Turns the text typed into the palette into a query: pure. */

/** The number of an experiment or of a trial; null for other texts. */
export function idIn(
  text: string,
): { readonly kind: "experiment" | "trial"; readonly id: string } | null {
  const found = /^#?(\d+)(\.\d+)?$/.exec(text.trim());
  if (found === null) return null;
  return { kind: found[2] === undefined ? "experiment" : "trial", id: found[0].replace("#", "") };
}

/** Returns a filter for rows with words that begin with the typed words; empty without words. */
export function wordsFilter(text: string): string {
  const words = text.match(/[\p{L}\p{N}_.-]+/gu) ?? [];
  return words.map((word) => JSON.stringify(word)).join(" ");
}
