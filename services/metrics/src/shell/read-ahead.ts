/**
 * Yields the results of `read` in the order of the items, while the reads of the next `ahead` items run. After a
 * failure the reads that have begun are not waited for.
 */
export async function* readAhead<Item, Result>(
  items: readonly Item[],
  ahead: number,
  read: (item: Item) => Promise<Result>,
): AsyncGenerator<readonly [Item, Result]> {
  const begun: { readonly item: Item; readonly result: Promise<Result> }[] = [];
  for (const item of items) {
    const result = read(item);
    // The failure is thrown in its turn, if that comes.
    result.catch(() => {});
    begun.push({ item, result });
    const first = begun.length > ahead ? begun.shift() : undefined;
    if (first !== undefined) yield [first.item, await first.result];
  }
  for (const { item, result } of begun) yield [item, await result];
}
