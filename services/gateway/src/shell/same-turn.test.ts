import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { SameTurn } from "./same-turn.ts";

test("the same question of one turn is asked once, and again in a later turn while it is under way", async () => {
  const same = new SameTurn<number>();
  const ends: (() => void)[] = [];
  const ask = async (): Promise<number> => {
    const number = ends.length;
    await new Promise<void>((resolve) => ends.push(resolve));
    return number;
  };
  const first = [same.ask("a", ask), same.ask("a", ask), same.ask("b", ask)];
  expect(ends).toHaveLength(2);
  await setImmediate();
  await setImmediate();
  const later = same.ask("a", ask);
  expect(ends).toHaveLength(3);
  for (const end of ends) end();
  expect(await Promise.all(first)).toEqual([0, 0, 1]);
  expect(await later).toBe(2);
});
