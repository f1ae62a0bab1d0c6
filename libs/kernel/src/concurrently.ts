/**
 * Runs `work` on all items, at most `limit` at a time. Returns the results in order, or throws the first failure: each
 * failure also lowers the limit by one, and the items that are left still run.
 */
export async function mapConcurrently<Item, Result>(
  items: Iterable<Item>,
  limit: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const left = [...items].entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of left) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: limit }, worker));
  return results;
}
