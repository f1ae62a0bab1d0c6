import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger } from "@trainyard/runtime";
import { expect, test } from "vitest";
import type { SeriesTopic } from "../core/watch/series.ts";
import { gatewayLimits } from "../limits.ts";
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

/** A store of texts, one a page. */
function stage(texts: readonly string[]) {
  let tails = 0;
  const hub = new SeriesHub(
    { clock: systemClock, logger: createLogger("gateway", "silent") },
    {
      look: async (_topic, after) => {
        const at = after === null ? texts.length : Number(after.position);
        const text = texts[at];
        const next = { position: String(text === undefined ? at : at + 1), epoch: "e" };
        return { text: text ?? "", next, more: text !== undefined };
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

test("a watcher that reads too slowly is cut off, and one beside it gets everything", async () => {
  const half = "x".repeat(gatewayLimits.watchQueuedCharactersMax / 2);
  const { hub, tails } = stage([half, half, half, "end"]);
  const stop = new AbortController();
  const max = gatewayLimits.watchQueuedCharactersMax;
  const [slow, quick] = [new WatchQueue(max), new WatchQueue(4 * max)];
  using _slow = hub.join(topic, first, slow);
  const joined = hub.join(topic, first, quick);
  const texts: string[] = [];
  for await (const { text } of quick.frames(stop.signal)) {
    texts.push(text);
    if (text === "end") break;
  }
  expect(texts).toEqual([half, half, half, "end"]);
  await expect(slow.frames(stop.signal).next()).rejects.toMatchObject({ code: "unavailable" });
  joined[Symbol.dispose]();
  // The loop ends with its last watcher.
  while (tails() > 0) await new Promise(setImmediate);
});
