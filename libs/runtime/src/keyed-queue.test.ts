import { expect, test } from "vitest";
import { KeyedQueue } from "./keyed-queue.ts";

test("tasks of one key run one at a time, in order, even after a failure, and other keys do not wait", async () => {
  const lanes = new KeyedQueue();
  const gate = Promise.withResolvers<void>();
  const done: string[] = [];
  const first = lanes.run("a", async () => {
    await gate.promise;
    done.push("first");
    throw new Error("refused");
  });
  const second = lanes.run("a", async () => done.push("second"));
  await lanes.run("b", async () => done.push("other"));
  gate.resolve();
  await expect(first).rejects.toThrow("refused");
  await second;
  expect(done).toEqual(["other", "first", "second"]);
});
