import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { ExperimentOutcome, TaskOutcome } from "@trainyard/contracts/events";
import { expect, test } from "vitest";
import { evolveLife, type Life } from "./lives.ts";
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

const continued: AnyEvent = {
  type: "ExperimentContinued",
  data: { continuation: 1, request: "" },
};

function lifeAfter(...events: readonly AnyEvent[]): Life {
  let life: Life = { policy: {}, endedMs: null, deletion: "none" };
  for (const event of events) {
    const { type, body } = encodeEvent(event);
    const stored = {
      commitId: "c",
      stream: "experiment-1",
      version: 1,
      position: 1,
      id: "1",
      type,
      body,
      meta: emptyMeta,
      timeMs: 5,
    };
    life = evolveLife(life, stored, () => ({}));
  }
  return life;
}

test("a continued experiment has not ended, and its deletion can be requested, undone or completed", () => {
  expect(lifeAfter(paused, activated).endedMs).toBeNull();
  expect(lifeAfter(paused, ended, activated).endedMs).toBe(5);
  expect(lifeAfter(ended, continued).endedMs).toBeNull();
  expect(lifeAfter(ended, continued, ended, asked)).toMatchObject({
    endedMs: 5,
    deletion: "asked",
  });
  expect(lifeAfter(ended, asked, undone).deletion).toBe("none");
  expect(lifeAfter(ended, asked, undone, asked, deleted).deletion).toBe("done");
});

test("a resumed task has not ended, and its deletion is final", () => {
  const over: AnyEvent = {
    type: "TaskEnded",
    data: { outcome: TaskOutcome.COMPLETED, reason: "", restarts: 0 },
  };
  expect(lifeAfter(over, { type: "TaskResumed", data: {} }).endedMs).toBeNull();
  expect(lifeAfter(over, { type: "TaskDeleted", data: {} })).toMatchObject({
    endedMs: 5,
    deletion: "done",
  });
});
