/** Runs `work` on all items, at most `lanes` at a time. Returns the results in order, or throws the first failure. */
export async function inLanes<Item, Result>(
  items: readonly Item[],
  lanes: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) {
      results[index] = await work(items[index] as Item);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}
