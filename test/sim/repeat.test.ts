import { expect, test } from "vitest";
import { runWorld, type World } from "./world.ts";

/** The stream, time and content of each event; event ids are random. */
function history({ log }: World): readonly string[] {
  return log.store.events.map(({ stream, timeMs, type }) => `${timeMs} ${stream} ${type}`);
}

test("worlds with the same seed have the same history, event by event", async () => {
  const seed = 7;
  expect(history(await runWorld({ seed }))).toEqual(history(await runWorld({ seed })));
});
