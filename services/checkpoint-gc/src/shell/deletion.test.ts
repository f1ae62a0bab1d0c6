import { StorageClaims, Stores } from "@trainyard/blob";
import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { emptyMeta, Executor, FoldCache, LogIdentity } from "@trainyard/runtime";
import { ManualClock } from "@trainyard/testing";
import { pino } from "pino";
import { expect, test } from "vitest";
import { Deletion, type DeletionDeps } from "./deletion.ts";
import type { Index } from "./index-view.ts";
import { LogClock } from "./log-time.ts";

test("a checkpoint that was condemned again since its grace was over keeps the new grace, and the loop continues", async () => {
  const clock = new ManualClock();
  const memory = createMemoryLog({ clock });
  const log = memory.as("checkpoint-gc");
  const condemned: AnyEvent = {
    type: "CheckpointCondemned",
    data: {
      ...{ competitors: [], referencesChecked: [], experiment: "", by: "ada", reason: "" },
      graceEndMs: clock.nowMs() + 600_000,
    },
  };
  const events = [{ id: newEventId(), ...encodeEvent(condemned) }];
  const writes = [{ stream: "retention-c", expectedVersion: 0, events }];
  await log.append({ commitId: newEventId(), meta: emptyMeta, writes, guards: [] });
  const stop = new AbortController();
  const passes: number[] = [];
  const none = async (): Promise<readonly string[]> => [];
  const putOff: string[] = [];
  const index: Pick<Index, "view" | "due" | "deleting" | "thinning" | "tensorboards"> &
    Pick<Index, "nextDueMs" | "putOff" | "forgetRetries"> = {
    view: { reach: async () => {} },
    // The rows were read before the checkpoint was spared and condemned again.
    due: async () => ["c"],
    ...{ deleting: none, thinning: none, tensorboards: none },
    nextDueMs: async (nowMs) => {
      passes.push(nowMs);
      if (passes.length === 2) stop.abort();
      return nowMs;
    },
    putOff: async (checkpoint) => void putOff.push(checkpoint),
    forgetRetries: async () => {},
  };
  const deps = {
    ...{ log, clock, logger: pino({ enabled: false }), stores: new Stores({ clock }) },
    ...{ executor: new Executor(log, new FoldCache(log)), time: new LogClock(log, clock, 600_000) },
    disk: {} as DeletionDeps["disk"],
    hold: { reason: async () => null },
    claims: new StorageClaims(new LogIdentity(log)),
  };
  const running = new Deletion(deps, index as Index).loop.run(stop.signal);
  await clock.advance(1);
  await running;
  expect(passes).toHaveLength(2);
  expect(putOff).toEqual([]);
  expect(memory.store.stream("retention-c")).toHaveLength(1);
});
