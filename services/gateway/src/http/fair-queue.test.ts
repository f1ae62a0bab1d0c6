import { expect, test } from "vitest";
import { FairQueue, type FairQueueBounds } from "./fair-queue.ts";

/** Makes a queue with tasks that the test ends. */
function stage(bounds: FairQueueBounds) {
  const queue = new FairQueue(bounds);
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (caller: string, name: string): Promise<void> =>
    queue.run(caller, async () => {
      started.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
    });
  const endOne = async (): Promise<void> => {
    ends.shift()?.();
    await new Promise(setImmediate);
  };
  return { queue, started, ask, endOne };
}

test("callers take turns, however many tasks one of them has", async () => {
  const { started, ask, endOne } = stage({ max: 1, ofOneMax: 1 });
  const tasks = ["a1", "a2", "a3"].map((name) => ask("ada", name));
  tasks.push(ask("grace", "g1"), ask("alan", "t1"), ask("grace", "g2"));
  for (let left = tasks.length; left > 0; left -= 1) {
    await new Promise(setImmediate);
    await endOne();
  }
  await Promise.all(tasks);
  expect(started).toEqual(["a1", "a2", "g1", "t1", "a3", "g2"]);
});

test("one caller leaves room for others, and leastBusy returns the caller with the fewest tasks", async () => {
  const { queue, started, ask, endOne } = stage({ max: 2, ofOneMax: 1 });
  const tasks = [ask("ada", "a1"), ask("ada", "a2"), ask("grace", "g1")];
  await new Promise(setImmediate);
  expect(started).toEqual(["a1", "g1"]);
  expect(queue.leastBusy(["ada", "grace"])).toBe("grace");
  await endOne();
  expect(started).toEqual(["a1", "g1", "a2"]);
  await endOne();
  await endOne();
  await Promise.all(tasks);
});

test("a failed task makes room for the next one", async () => {
  const queue = new FairQueue({ max: 1, ofOneMax: 1 });
  const failed = queue.run("ada", async () => Promise.reject(new Error("away")));
  const next = queue.run("ada", async () => "read");
  await expect(failed).rejects.toThrow("away");
  expect(await next).toBe("read");
});

test("a caller with too many waiting tasks is refused as busy, and another one is not", async () => {
  const { started, ask, endOne } = stage({ max: 1, ofOneMax: 1, waitingOfOneMax: 1 });
  const tasks = [ask("ada", "a1"), ask("ada", "a2")];
  await expect(ask("ada", "a3")).rejects.toMatchObject({ status: 503, code: "busy" });
  tasks.push(ask("grace", "g1"));
  for (let left = tasks.length; left > 0; left -= 1) {
    await new Promise(setImmediate);
    await endOne();
  }
  await Promise.all(tasks);
  expect(started).toEqual(["a1", "a2", "g1"]);
});

test("a task whose request is given up while it waits leaves the queue; one that has begun continues", async () => {
  const queue = new FairQueue({ max: 1, ofOneMax: 1, waitingOfOneMax: 1 });
  const gone = new AbortController();
  const end = Promise.withResolvers<string>();
  const running = queue.run("ada", () => end.promise, gone.signal);
  const waiting = queue.run("ada", async () => "read for nobody", gone.signal);
  gone.abort();
  await expect(waiting).rejects.toMatchObject({ status: 503, code: "busy" });
  const early = queue.run("ada", async () => "read for nobody", gone.signal);
  await expect(early).rejects.toMatchObject({ status: 503 });
  const next = queue.run("ada", async () => "next");
  end.resolve("read");
  expect(await Promise.all([running, next])).toEqual(["read", "next"]);
});
