import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger } from "@trainyard/runtime";
import { expect, test } from "vitest";
import type { SeriesTopic } from "./core/series.ts";
import { liveLimits } from "./limits.ts";
import { SeriesHub } from "./series-hub.ts";
import { WatchQueue } from "./watch-queue.ts";

const topic: SeriesTopic = {
  key: "lines of 1",
  name: "l1",
  kind: "lines",
  experiment: "1",
  trial: "",
  group: "",
  names: [],
};

/** A simulated store with one text per page. */
function stage(texts: readonly (string | Error)[]) {
  let tails = 0;
  const hub = new SeriesHub(
    { clock: systemClock, logger: createLogger("gateway", "silent") },
    {
      look: async (_topic, after) => {
        const at = after === null ? texts.length : Number(after.position);
        const text = texts[at];
        if (text instanceof Error) throw text;
        const next = { position: String(text === undefined ? at : at + 1), epoch: "e" };
        const items = text === undefined ? [] : [{ text, position: next.position }];
        return { items, next, more: text !== undefined };
      },
      tail: async () => {
        tails += 1;
        return { [Symbol.asyncDispose]: async () => void (tails -= 1) };
      },
      reset: (_topic, reason) => reason,
    },
  );
  return { hub, tails: () => tails };
}

const first = { position: "0", epoch: "e" };

test("a watcher that reads too slowly is disconnected, and another one gets everything", async () => {
  const half = "x".repeat(liveLimits.watchQueuedCharactersMax / 2);
  const { hub, tails } = stage([half, half, half, "end"]);
  const stop = new AbortController();
  const max = liveLimits.watchQueuedCharactersMax;
  const [slow, quick] = [new WatchQueue(max), new WatchQueue(4 * max)];
  using _slow = hub.join("ada", topic, first, slow);
  const joined = hub.join("ada", topic, first, quick);
  const texts: string[] = [];
  for await (const { text } of quick.frames(stop.signal)) {
    texts.push(text);
    if (text === "end") break;
  }
  expect(texts).toEqual([half, half, half, "end"]);
  await expect(slow.frames(stop.signal).next()).rejects.toMatchObject({ code: "unavailable" });
  joined[Symbol.dispose]();
  // The loop of the topic ends with its last watcher.
  while (tails() > 0) await new Promise(setImmediate);
});

test("a page that cannot be read delays no watcher at another place, and no other topic", async () => {
  const { hub } = stage(["begun", new Error("too large"), "later", "end"]);
  const stop = new AbortController();
  const max = liveLimits.watchQueuedCharactersMax;
  const [stuck, quick] = [new WatchQueue(max), new WatchQueue(max)];
  using _stuck = hub.join("ada", topic, { position: "1", epoch: "e" }, stuck);
  using _quick = hub.join("ada", topic, { position: "2", epoch: "e" }, quick);
  const texts: string[] = [];
  for await (const { text } of quick.frames(stop.signal)) {
    texts.push(text);
    if (text === "end") break;
  }
  expect(texts).toEqual(["later", "end"]);
});
