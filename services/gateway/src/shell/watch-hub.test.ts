import { encodeEvent } from "@trainyard/contracts";
import { createMemoryLog, newEventId } from "@trainyard/event-log";
import { createLogger } from "@trainyard/runtime";
import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { experimentList } from "../core/lists/lists.ts";
import type { ListSpec } from "../core/lists/list-spec.ts";
import type { Topic } from "../core/watch/topics.ts";
import { Problem } from "../http/problem.ts";
import { gatewayLimits } from "../limits.ts";
import { SeriesHub } from "./series-hub.ts";
import { type LogPlace, readCursor } from "./watch-cursor.ts";
import { type WatchEncoder, WatchHub } from "./watch-hub.ts";
import type { Frame } from "./watch-queue.ts";
import { type Sent, type WatchHubs, WatchStream } from "./watch-stream.ts";

const topic = (key: string): Topic => ({
  key,
  list: experimentList as unknown as ListSpec, // — a list of one kind is watched like every other
  scope: "",
  filter: null,
  id: "",
  nowMs: 0,
  isRelative: false,
});

const frame = (text: string): Frame => ({ text });

/** A hub over a log in memory whose topic `slow` always takes too long. */
function stage() {
  const log = createMemoryLog().as("experiments");
  const moved = new Set<() => void>();
  const view = {
    position: 0,
    reach: async (position: number) => {
      while (view.position < position) {
        const { promise, resolve } = Promise.withResolvers<void>();
        moved.add(resolve);
        await promise;
      }
    },
  };
  const encoder: WatchEncoder = {
    changes: async ({ key }) => {
      if (key === "slow") throw new Problem(400, "query_too_slow", "it takes too long");
      return [frame(`${key} changed`)];
    },
    reset: (_topic, reason) => frame(`reset: ${reason}`),
  };
  const logger = createLogger("gateway", "silent");
  const parts = { clock: new ManualClock(), logger };
  const hub = new WatchHub({ log, view, ...parts }, encoder);
  const series = new SeriesHub(parts, {
    look: () => Promise.reject(new Error("no series")),
    tail: () => Promise.reject(new Error("no series")),
    reset: () => "",
  });
  const bookmark = (cursor: string) => `at ${readCursor(cursor)?.log.position}`;
  const hubs: WatchHubs = { documents: hub, series, bookmark };
  const watch = (topics: readonly Topic[], log: LogPlace, signal: AbortSignal) => {
    const from = { log, nowMs: null, begun: [], places: new Map() };
    return new WatchStream(hubs, { topics, series: [] }, from).frames(signal);
  };
  const happen = async (count = 1): Promise<void> => {
    for (let left = count; left > 0; left -= 500) {
      const events = Array.from({ length: Math.min(left, 500) }, () => ({
        id: newEventId(),
        ...encodeEvent({ type: "ExperimentPaused", data: {} }),
      }));
      const stream = `experiment-${newEventId()}`;
      const writes = [{ stream, expectedVersion: 0, events }];
      await log.append({ commitId: newEventId(), writes, guards: [], meta });
    }
    view.position += count;
    for (const resolve of moved) resolve();
    moved.clear();
  };
  return { hub, watch, happen };
}

const meta = {
  source: "/trainyard/test",
  workspace: "",
  correlationid: "",
  causationid: "",
  authid: "",
  traceparent: "",
};

/** Frames until one is as wanted. */
async function until(
  frames: AsyncGenerator<Sent>,
  wanted: (text: string) => boolean,
): Promise<readonly string[]> {
  const texts: string[] = [];
  for (;;) {
    const next = await frames.next();
    if (next.done === true) throw new Error(`it ended after ${texts.join(", ")}`);
    texts.push(next.value.text);
    if (wanted(next.value.text)) return texts;
  }
}

test("a topic that takes too long ends the streams that have it, and no other", async () => {
  const { hub, watch, happen } = stage();
  const stop = new AbortController();
  const from = await hub.now();
  const quick = watch([topic("quick")], from, stop.signal);
  const slow = watch([topic("quick"), topic("slow")], from, stop.signal);
  const seen = until(quick, (text) => text === "quick changed");
  const ended = expect(until(slow, () => false)).rejects.toMatchObject({ code: "query_too_slow" });
  await new Promise(setImmediate);
  await happen();
  await Promise.all([seen, ended]);
  stop.abort();
  await quick.return(undefined);
});

test("a stream far behind is reset once, with the cursor that it continues at", async () => {
  const { hub, watch, happen } = stage();
  const stop = new AbortController();
  const from = await hub.now();
  const far = gatewayLimits.watchResumedMax + 1;
  await happen(far);
  const frames = watch([topic("quick")], from, stop.signal);
  expect((await frames.next()).value?.text).toMatch(/^reset: more than/);
  await happen();
  const texts = await until(frames, (text) => text === "quick changed");
  expect(texts).toEqual([`at ${far}`, "quick changed"]);
  stop.abort();
  await frames.return(undefined);
});
