import type { AnyEvent } from "@trainyard/contracts";
import { TaskOutcome } from "@trainyard/contracts/events";
import { fold } from "@trainyard/kernel";
import { describe, expect, test } from "vitest";
import {
  runEnded,
  runRequested,
  trialCheckpointed,
  trialCreated,
  trialEnded,
} from "../../testing/events.ts";
import { evolveCheckpoint, unknownCheckpoint } from "../foreign/checkpoint.ts";
import { evolveTrial, unknownTrial } from "../foreign/trial.ts";
import { evolveTask, unknownTask } from "../foreign/task.ts";
import { needOfPins, needOfTask, needOfTrial } from "./references.ts";

const need = (...events: readonly AnyEvent[]) =>
  needOfTrial("1.1", fold(evolveTrial, unknownTrial, events), "c");

describe("a trial needs a checkpoint", () => {
  test.each([
    ["that its queued run starts from", need(runRequested(1, "c")), "run 1.1#1 starts from it"],
    ["that it begins from", need(trialCreated("1.1", "c")), "trial 1.1 begins from it"],
    [
      "that is its latest",
      need(runRequested(1), trialCheckpointed("c", 1, 5), runEnded(1)),
      "trial 1.1 continues from it",
    ],
    [
      "that it went back to",
      need(
        trialCheckpointed("c", 1, 5),
        trialCheckpointed("d", 1, 9),
        runRequested(2, "c", 5),
        runEnded(2),
      ),
      "trial 1.1 continues from it",
    ],
    ["not: another's", need(runRequested(1, "other")), null],
    [
      "not: an earlier one than its latest",
      need(trialCheckpointed("c", 1, 5), trialCheckpointed("d", 1, 9)),
      null,
    ],
    ["not: after it has ended", need(trialCreated("1.1", "c"), trialEnded()), null],
    [
      "not: one that an ended run started from",
      need(runRequested(1, "c"), runEnded(1), trialCheckpointed("d", 1, 9)),
      null,
    ],
  ])("%s", (_, found, expected) => expect(found).toBe(expected));
});

describe("a task needs a save", () => {
  const saved = (checkpoint: string, step = 1_000_001): AnyEvent => ({
    type: "TaskSaved",
    data: { checkpoint, run: 1, step, files: 1, bytes: 1 },
  });
  const ended: AnyEvent = {
    type: "TaskEnded",
    data: { outcome: TaskOutcome.PAUSED, reason: "", restarts: 0 },
  };
  const ofTask = (...events: readonly AnyEvent[]) =>
    needOfTask("t1", fold(evolveTask, unknownTask, events), "c");

  test.each([
    ["that its run starts from", ofTask(runRequested(2, "c")), "run t1#2 starts from it"],
    ["that is its latest", ofTask(runRequested(1), saved("c")), "task t1 continues from it"],
    [
      "that is its latest, also while it is paused",
      ofTask(runRequested(1), saved("c"), runEnded(1), ended),
      "task t1 continues from it",
    ],
    ["not: an earlier one", ofTask(saved("c"), saved("d", 1_000_002)), null],
    ["not: an earlier one that is known later", ofTask(saved("d", 1_000_002), saved("c")), null],
    [
      "that it went back to",
      ofTask(saved("c"), saved("d", 1_000_002), runRequested(2, "c", 1_000_001), runEnded(2)),
      "task t1 continues from it",
    ],
    ["not: one that an ended run started from", ofTask(runRequested(2, "c"), runEnded(2)), null],
    ["not: once it is deleted", ofTask(saved("c"), ended, { type: "TaskDeleted", data: {} }), null],
  ])("%s", (_, found, expected) => expect(found).toBe(expected));
});

describe("a pin", () => {
  const pin = (by: string): AnyEvent => ({
    type: "CheckpointPinned",
    data: { by, holder: "", reason: "" },
  });
  const unpin = (by: string): AnyEvent => ({
    type: "CheckpointUnpinned",
    data: { by, holder: "" },
  });
  const pinned = (...events: readonly AnyEvent[]) =>
    needOfPins(fold(evolveCheckpoint, unknownCheckpoint, events));

  test("lasts until every person has unpinned the checkpoint", () => {
    expect(pinned()).toBeNull();
    expect(pinned(pin("ada"), pin("bob"), unpin("ada"))).toBe("bob pinned it");
    expect(pinned(pin("model-version:digits/2"))).toBe("version 2 of model digits uses it");
    expect(pinned(pin("ada"), pin("ada"), unpin("ada"))).toBeNull();
  });
});
