import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { patcher } from "../../data/live/patch.ts";
import type { KeyedDocument } from "../../data/live/protocol.ts";
import { comparisonRead } from "./read.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A frame has the whole document; this one has only the fields that the test needs. */
const changed = (name: string): KeyedDocument =>
  ({
    key: "topic",
    frame: {
      case: "change",
      value: { topic: "t", id: "1", document: { case: "experiment", value: { id: "1", name } } },
    },
  }) as unknown as KeyedDocument;

test("a comparison of running experiments is read again at most every five seconds", async () => {
  const queries = new QueryClient();
  const answer = { trials: [], experiments: [{ id: "1" }], gone: [] };
  const read = vi.fn<() => Promise<typeof answer>>(() => Promise.resolve(answer));
  const { readAgainMs } = comparisonRead("1.best").live;
  const observer = new QueryObserver(queries, {
    queryKey: ["compareTrials"],
    queryFn: read,
    meta: { live: { topic: "topic", follow: false, readAgainMs } },
  });
  const stop = observer.subscribe(() => {});
  const listener = patcher(queries);
  for (let second = 0; second < 23; second += 1) {
    await vi.advanceTimersByTimeAsync(1_000);
    listener.frames([changed(`after ${second} s`)]);
  }
  expect(read).toHaveBeenCalledTimes(1 + 4);
  stop();
});
