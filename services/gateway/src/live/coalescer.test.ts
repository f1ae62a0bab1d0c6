import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { Coalescer } from "./coalescer.ts";

test("equal questions of one turn of the event loop are asked once, and again in a later turn", async () => {
  const coalescer = new Coalescer<number>();
  const ends: (() => void)[] = [];
  const ask = async (): Promise<number> => {
    const number = ends.length;
    await new Promise<void>((resolve) => ends.push(resolve));
    return number;
  };
  const first = [coalescer.ask("a", ask), coalescer.ask("a", ask), coalescer.ask("b", ask)];
  expect(ends).toHaveLength(2);
  await setImmediate();
  await setImmediate();
  const later = coalescer.ask("a", ask);
  expect(ends).toHaveLength(3);
  for (const end of ends) end();
  expect(await Promise.all(first)).toEqual([0, 0, 1]);
  expect(await later).toBe(2);
});
