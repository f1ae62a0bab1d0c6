import { expect, test } from "vitest";
import { AtOnce } from "./at-once.ts";

const bounds = { max: 2, waitingMax: 3, busy: "many are asked" };

test("at most the maximum of tasks runs at once, waiting ones follow in order, and a failure makes room", async () => {
  const queries = new AtOnce(bounds);
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
  expect(begun).toEqual([0, 1]);
  held[1]?.reject(new Error("it failed"));
  await new Promise(setImmediate);
  expect(begun).toEqual([0, 1, 2]);
  for (const { resolve } of held) resolve();
  await Promise.all(all);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
});

test("a request beyond the queue's limit is refused as busy, and a task of the gateway itself waits", async () => {
  const queries = new AtOnce(bounds);
  const held = Promise.withResolvers<void>();
  const asked = Array.from({ length: 5 }, () => queries.ask(() => held.promise));
  const own = queries.run(async () => "own");
  await expect(queries.ask(async () => {})).rejects.toMatchObject({
    status: 503,
    code: "busy",
    message: "many are asked; try again",
  });
  held.resolve();
  await Promise.all(asked);
  expect(await own).toBe("own");
  expect(await queries.ask(async () => "again")).toBe("again");
});
