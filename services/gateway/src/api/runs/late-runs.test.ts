import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { TrialOutcome } from "@trainyard/contracts/events";
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { emptyMeta, FoldCache } from "@trainyard/runtime";
import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import type { TrialRunCaller } from "../../http/caller.ts";
import { requested, trialCreated } from "../../testing/example-events.ts";
import { apiLimits } from "../limits.ts";
import { requireInTime } from "./late-runs.ts";

const run: TrialRunCaller = {
  ...{ kind: "run", authid: "run:1.1#1", allocation: "1.1#1", run: 1, grantPosition: 1 },
  ...{ task: null, experiment: "1", trial: "1.1" },
};

test("a run delivers what it left for eight days after its trial ended, and again while the trial is continued", async () => {
  const clock = new ManualClock();
  const memory = createMemoryLog({ clock });
  const append = async (...events: readonly AnyEvent[]) => {
    const written = events.map((event) => ({ id: newEventId(), ...encodeEvent(event) }));
    const stream = "trial-1.1";
    const writes = [{ stream, expectedVersion: memory.store.version(stream), events: written }];
    const commit = { commitId: newEventId(), writes, guards: [], meta: emptyMeta };
    await memory.as("experiments").append(commit);
  };
  const log = memory.as("gateway");
  const inTime = () => requireInTime({ log, clock, cache: new FoldCache(log) }, run);
  await append(trialCreated(1), requested(1, 0));
  await clock.advance(2 * apiLimits.lateRunsMs);
  await inTime();
  const outcome = TrialOutcome.COMPLETED;
  await append({ type: "TrialEnded", data: { outcome, reason: "" } } as AnyEvent);
  await clock.advance(apiLimits.lateRunsMs);
  await inTime();
  await clock.advance(1);
  await expect(inTime()).rejects.toMatchObject({ status: 403, code: "trial_ended" });
  await append(requested(2, 0));
  await inTime();
});
