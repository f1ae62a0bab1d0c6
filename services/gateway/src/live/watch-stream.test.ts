import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger } from "@trainyard/runtime";
import { expect, test } from "vitest";
import type { SeriesTopic } from "./core/series.ts";
import { SeriesHub } from "./series-hub.ts";
import { beginning } from "./watch-cursor.ts";
import { WatchStream } from "./watch-stream.ts";

const topicOf = (kind: SeriesTopic["kind"]): SeriesTopic => ({
  ...{ key: kind, name: kind, kind, experiment: "1", trial: "", group: "", names: [] },
});

test("a page of points that cannot be read does not end the stream, and lines still arrive", async () => {
  const series = new SeriesHub(
    { clock: systemClock, logger: createLogger("gateway", "silent") },
    {
      look: async ({ kind }, after) => {
        if (kind === "points") throw new Error("the answer is larger than a message");
        const isBegin = after?.position === "0";
        const next = { position: "1", epoch: "e" };
        const items = isBegin ? [{ text: "a line", position: "1" }] : [];
        return { items, next, more: false };
      },
      tail: async () => ({ [Symbol.asyncDispose]: async () => {} }),
      reset: (_topic, reason) => reason,
    },
  );
  const page = async function* () {
    yield* [];
    return false;
  };
  const documents = { page, join: () => ({ [Symbol.dispose]: () => {} }) };
  const topics = [topicOf("points"), topicOf("lines")];
  const at = { position: "0", epoch: "e" };
  const stream = new WatchStream(
    { documents, series, bookmark: (cursor) => cursor },
    { caller: "ada", topics: [], series: topics },
    {
      log: beginning,
      nowMs: null,
      begun: [],
      sight: "",
      places: new Map(topics.map(({ name }) => [name, at])),
    },
  );
  const stop = new AbortController();
  const texts: string[] = [];
  for await (const { text } of stream.frames(stop.signal)) {
    texts.push(text);
    break;
  }
  stop.abort();
  expect(texts).toEqual(["a line"]);
});
