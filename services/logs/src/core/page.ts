/**
 * Cuts a list of lines to the size of one answer. The size as JSON is known only here, since a control character takes
 * six bytes.
 */

/** Returns the first items that fit, at least one, so that a reader always advances. */
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
