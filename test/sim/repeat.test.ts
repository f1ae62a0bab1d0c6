import { expect, test } from "vitest";
import { runWorld, type World } from "./world.ts";

/** Where, when and what; the ids of events are drawn by the machine. */
function history({ log }: World): readonly string[] {
  return log.store.events.map(({ stream, timeMs, type }) => `${timeMs} ${stream} ${type}`);
}

test("a seed is a world: the same again, event by event", async () => {
  const seed = 7;
  expect(history(await runWorld({ seed }))).toEqual(history(await runWorld({ seed })));
});
