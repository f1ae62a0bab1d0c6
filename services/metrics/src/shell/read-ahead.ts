/**
 * Yields the results of `read` in the order of the items, while the reads of the next `ahead` items run. After a
 * failure the reads that have begun are not waited for.
 */
export async function* readAhead<Item, Result>(
  items: readonly Item[],
  ahead: number,
  read: (item: Item) => Promise<Result>,
): AsyncGenerator<readonly [Item, Result]> {
  const begun: Promise<Result>[] = [];
  for (const [index, item] of items.entries()) {
    while (begun.length <= index + ahead && begun.length < items.length) {
      const next = read(items[begun.length] as Item); // Within the list.
      // The failure is thrown in its turn, if that comes.
      next.catch(() => {});
      begun.push(next);
    }
    yield [item, await (begun[index] as Promise<Result>)]; // Begun above.
    delete begun[index];
  }
}
