import { allRights, noRights } from "@trainyard/access";
import { encodeEvent } from "@trainyard/contracts";
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { createLogger } from "@trainyard/runtime";
import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { Problem, unavailable } from "../http/problem.ts";
import { experimentList } from "../read-model/core/lists/lists.ts";
import type { SeriesTopic } from "./core/series.ts";
import type { Topic } from "./core/topics.ts";
import { liveLimits } from "./limits.ts";
import { SeriesHub } from "./series-hub.ts";
import { type LogPlace, readCursor } from "./watch-cursor.ts";
import { type WatchEncoder, WatchHub } from "./watch-hub.ts";
import type { Frame } from "./watch-queue.ts";
import { type Sent, type WatchHubs, WatchStream } from "./watch-stream.ts";

const topic = (key: string, rights = allRights("")): Topic => ({
  ...{ rights, sharedKey: `${key} ${rights.sight}` },
  key,
  list: experimentList,
  scope: "",
  filter: null,
  id: "",
  nowMs: 0,
  isRelative: false,
});

const frame = (text: string): Frame => ({ text });

/** Makes a hub over a log in memory. Its topic `slow` always exceeds the time limit. */
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
  const asked: string[] = [];
  const encoder: WatchEncoder = {
    changes: async ({ key }) => {
      asked.push(key);
      await new Promise(setImmediate);
      if (key === "slow") throw new Problem(400, "query_too_slow", "it takes too long");
      return [frame(`${key} changed`)];
    },
    reset: (_topic, reason) => frame(`reset: ${reason}`),
  };
  const logger = createLogger("gateway", "silent");
  const parts = { clock: new ManualClock(), logger };
  const hub = new WatchHub({ log, view, ...parts }, encoder);
  let looks = 0;
  const series = new SeriesHub(parts, {
    look: async () => {
      looks += 1;
      throw unavailable("the store is away");
    },
    tail: async () => ({ [Symbol.asyncDispose]: async () => {} }),
    reset: () => "",
  });
  const bookmark = (cursor: string) => `at ${readCursor(cursor)?.log.position}`;
  const hubs: WatchHubs = { documents: hub, series, bookmark };
  const watch = (
    topics: readonly Topic[],
    log: LogPlace,
    signal: AbortSignal,
    points: readonly SeriesTopic[] = [],
    caller = "ada",
  ) => {
    const places = new Map(points.map(({ name }) => [name, { position: "1", epoch: "" }]));
    const from = { log, nowMs: null, begun: [], places, sight: "" };
    return new WatchStream(hubs, { caller, topics, series: points }, from).frames(signal);
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
  return { hub, watch, happen, asked, looks: () => looks };
}

const meta = {
  source: "/trainyard/test",
  workspace: "",
  correlationid: "",
  causationid: "",
  authid: "",
  traceparent: "",
};

/** Reads frames until one matches. */
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

test("a topic that takes too long ends the streams that have it, and no other stream", async () => {
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

test("a stream far behind is reset once, with the cursor at which it continues", async () => {
  const { hub, watch, happen } = stage();
  const stop = new AbortController();
  const from = await hub.now();
  const far = liveLimits.watchResumedMax + 1;
  await happen(far);
  const frames = watch([topic("quick")], from, stop.signal);
  expect((await frames.next()).value?.text).toMatch(/^reset: more than/);
  await happen();
  const texts = await until(frames, (text) => text === "quick changed");
  expect(texts).toEqual([`at ${far}`, "quick changed"]);
  stop.abort();
  await frames.return(undefined);
});

test("an unavailable store is waited for once, and documents arrive meanwhile", async () => {
  const { hub, watch, happen, looks } = stage();
  const stop = new AbortController();
  const from = await hub.now();
  await happen();
  const names = ["a", "b", "c", "d", "e"];
  const points = names.map(
    (name): SeriesTopic => ({
      ...{ key: name, name, kind: "points", experiment: "1" },
      ...{ trial: "", group: "", names: [] },
    }),
  );
  const frames = watch([topic("quick")], from, stop.signal, points);
  await until(frames, (text) => text === "at 1");
  const more = until(frames, (text) => text === "quick changed");
  await new Promise(setImmediate);
  // The stream queried twice while it caught up, and then the loop of each topic queried once.
  expect(looks()).toBe(2 + names.length);
  await happen();
  await more;
  stop.abort();
  await frames.return(undefined);
});

test("a caller with the maximum of topics delays no other caller, and a topic of two callers is queried once", async () => {
  const { hub, watch, happen, asked } = stage();
  const stop = new AbortController();
  const from = await hub.now();
  const { watchTopicsOfOneMax } = liveLimits;
  const many = Array.from({ length: watchTopicsOfOneMax }, (_, n) => topic(`many ${n}`));
  const busy = watch([...many, topic("both")], from, stop.signal);
  const one = watch([topic("one"), topic("both")], from, stop.signal, [], "grace");
  const last = `many ${watchTopicsOfOneMax - 1}`;
  const all = until(busy, (text) => text === "both changed");
  const seen = until(one, (text) => text === "both changed");
  await new Promise(setImmediate);
  await happen();
  await seen;
  expect(asked).toContain("one");
  expect(asked.length).toBeLessThan(10);
  const texts = await all;
  expect(texts).toContain(`${last} changed`);
  expect(asked.filter((key) => key === "both")).toHaveLength(1);
  stop.abort();
  await busy.return(undefined);
  await one.return(undefined);
});

test("clients that reconnect together at one place share one query", async () => {
  const { hub, watch, happen, asked } = stage();
  const stop = new AbortController();
  const from = await hub.now();
  await happen(3);
  const streams = Array.from({ length: 20 }, () => watch([topic("quick")], from, stop.signal));
  for (const stream of streams) {
    expect(await until(stream, (text) => text === "at 3")).toEqual(["quick changed", "at 3"]);
  }
  expect(asked).toEqual(["quick"]);
  stop.abort();
  for (const stream of streams) await stream.return(undefined);
});

test("callers share the answer of a topic only if they see the same objects", async () => {
  const { hub, watch, happen, asked } = stage();
  const stop = new AbortController();
  const from = await hub.now();
  const callers = [allRights("ada"), allRights("grace"), noRights("eve")];
  const streams = callers.map((rights) =>
    watch([topic("one", rights)], from, stop.signal, [], rights.owner),
  );
  const all = streams.map((frames) => until(frames, (text) => text === "one changed"));
  await new Promise(setImmediate);
  await happen();
  await Promise.all(all);
  expect(asked).toEqual(["one", "one"]);
  stop.abort();
  for (const frames of streams) await frames.return(undefined);
});
