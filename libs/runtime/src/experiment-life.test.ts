import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { ExperimentOutcome } from "@trainyard/contracts/events";
import { type EventLog, newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { expect, test } from "vitest";
import { experimentLife } from "./experiment-life.ts";
import { emptyMeta } from "./work/correlation.ts";

const paused: AnyEvent = { type: "ExperimentPaused", data: {} };
const activated: AnyEvent = { type: "ExperimentActivated", data: {} };
const ended: AnyEvent = {
  type: "ExperimentEnded",
  data: { outcome: ExperimentOutcome.COMPLETED, reason: "" },
};
const asked: AnyEvent = {
  type: "ExperimentDeletionRequested",
  data: { graceEndMs: 1, reason: "" },
};
const undone: AnyEvent = { type: "ExperimentDeletionUndone", data: {} };
const deleted: AnyEvent = { type: "ExperimentDeleted", data: {} };

async function tell(log: EventLog, ...events: readonly AnyEvent[]): Promise<void> {
  const stream = "experiment-1";
  const expectedVersion = (await log.read(stream, 0, 100_000)).length;
  const written = events.map((event) => ({ id: newEventId(), ...encodeEvent(event) }));
  const writes = [{ stream, expectedVersion, events: written }];
  const commit = { commitId: newEventId(), writes, guards: [], meta: emptyMeta };
  expect(await log.append(commit)).toMatchObject({ kind: "committed" });
}

test("the end of an experiment is found behind more than 10,000 other events of its stream", async () => {
  const log = createMemoryLog().as("experiments");
  const hundred = Array.from({ length: 50 }, () => [paused, activated]).flat();
  for (let n = 0; n < 101; n += 1) await tell(log, ...hundred);
  expect(await experimentLife(log, "1")).toMatchObject({ endedMs: null, deletion: "none" });
  await tell(log, ended);
  expect((await experimentLife(log, "1")).endedMs).toBeGreaterThan(0);
});

test("a continued experiment has not ended, and its deletion can be requested, undone or completed", async () => {
  const log = createMemoryLog().as("experiments");
  await tell(log, ended);
  const continued: AnyEvent = {
    type: "ExperimentContinued",
    data: { continuation: 1, request: "" },
  };
  await tell(log, continued);
  expect((await experimentLife(log, "1")).endedMs).toBeNull();
  await tell(log, ended, asked);
  expect((await experimentLife(log, "1")).deletion).toBe("asked");
  await tell(log, undone);
  expect((await experimentLife(log, "1")).deletion).toBe("none");
  await tell(log, asked, deleted);
  expect((await experimentLife(log, "1")).deletion).toBe("done");
});
