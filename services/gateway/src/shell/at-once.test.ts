import { expect, test } from "vitest";
import { AtOnce } from "./at-once.ts";

test("no more tasks run at once than may, those that wait run in turn, and a failure makes room", async () => {
  const queries = new AtOnce(2);
  const begun: number[] = [];
  const held = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const all = held.map(({ promise }, index) =>
    queries
      .run(async () => {
        begun.push(index);
        await promise;
      })
      .catch(() => {}),
  );
  await new Promise(setImmediate);
  expect([begun, queries.waiting]).toEqual([[0, 1], 3]);
  held[1]?.reject(new Error("it failed"));
  await new Promise(setImmediate);
  expect([begun, queries.waiting]).toEqual([[0, 1, 2], 2]);
  for (const { resolve } of held) resolve();
  await Promise.all(all);
  expect([begun, queries.waiting]).toEqual([[0, 1, 2, 3, 4], 0]);
});
