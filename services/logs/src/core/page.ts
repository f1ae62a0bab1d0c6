/**
 * How much of what was found fits one answer: its size as JSON is known only here (a control character takes six
 * bytes).
 */

/** The first items that fit, one at least, so that a reader always comes further. */
export function fittingFirst<Item>(
  items: readonly Item[],
  bytesOf: (item: Item) => number,
  bytesMax: number,
): readonly Item[] {
  let bytes = 0;
  let count = 0;
  for (const item of items) {
    bytes += bytesOf(item);
    if (count > 0 && bytes > bytesMax) break;
    count += 1;
  }
  return items.slice(0, count);
}
