/**
 * Returns the results of a task for each item, in order, while at most `most` tasks run. An item is read only when a
 * task may start, which applies back pressure to the source.
 */
export async function* pipelined<Item, Result>(
  items: AsyncIterable<Item>,
  most: number,
  task: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const iterator = items[Symbol.asyncIterator]();
  const running: Promise<Result>[] = [];
  let next: Promise<IteratorResult<Item>> | null = null;
  let isOver = false;
  try {
    while (!isOver || running.length > 0) {
      if (!isOver && running.length < most) next ??= iterator.next();
      const [oldest] = running;
      const first = await Promise.race([
        ...(oldest === undefined ? [] : [oldest.then((result) => ({ result }))]),
        ...(next === null ? [] : [next.then((item) => ({ item }))]),
      ]);
      if ("result" in first) {
        void running.shift();
        yield first.result;
        continue;
      }
      next = null;
      if (first.item.done === true) {
        isOver = true;
        continue;
      }
      const started = task(first.item.value);
      // A failure is thrown at its place, or ignored if an earlier task has failed.
      started.catch(() => {});
      running.push(started);
    }
  } finally {
    next?.catch(() => {});
    if (!isOver) void iterator.return?.()?.catch(() => {});
  }
}
