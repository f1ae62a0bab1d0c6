import {
  AllocationEndCause,
  EndReason,
  RunEndWhy,
  StopMode,
  StopWhy,
} from "@trainyard/contracts/events";
import { fold } from "@trainyard/kernel";
import { describe, expect, test } from "vitest";
import {
  acknowledged,
  agentLost,
  allocationEnded,
  crashed,
  exit,
  finished,
  killed,
  launchFailed,
  withdrawn,
} from "../../testing/examples.ts";
import { evolveAllocation, initialAllocation } from "../foreign/allocation.ts";
import { runEnd } from "./run-end.ts";

const quiet = initialAllocation;
const why = (ended: typeof finished, allocation = quiet) =>
  runEnd(1, ended.data, allocation, 0).why;
const word = (reason: EndReason, code: number) =>
  allocationEnded({ exits: [exit(code)], endRecord: { reason, message: "" } });

describe("why a run ended", () => {
  test("the script's end record decides", () => {
    expect(why(finished)).toBe(RunEndWhy.FINISHED);
    expect(why(acknowledged)).toBe(RunEndWhy.ACKNOWLEDGED_STOP);
    expect(why(crashed)).toBe(RunEndWhy.FAILED);
    expect(why(word(EndReason.INVALID_HYPERPARAMETERS, 1))).toBe(RunEndWhy.INVALID_HYPERPARAMETERS);
  });

  test("a script that acknowledged its stop and then exits with an error has acknowledged it", () => {
    expect(why(word(EndReason.ACKNOWLEDGED_STOP, 1))).toBe(RunEndWhy.ACKNOWLEDGED_STOP);
  });

  test("a script that had finished and then exits with an error has failed", () => {
    expect(why(word(EndReason.FINISHED, 1))).toBe(RunEndWhy.FAILED);
  });

  test("an error that left the context is a failure, even if the process exits with 0", () => {
    expect(why(word(EndReason.ERROR, 0))).toBe(RunEndWhy.FAILED);
  });

  test("without an end record, a clean exit is the end of the training", () => {
    expect(why(allocationEnded())).toBe(RunEndWhy.FINISHED);
  });

  test("without an end record, a clean exit after an acknowledged stop counts as that stop", () => {
    expect(why(allocationEnded(), { ...quiet, stopAcknowledged: true })).toBe(
      RunEndWhy.ACKNOWLEDGED_STOP,
    );
  });

  test("without an end record, an error or signal of any node is a failure", () => {
    expect(why(allocationEnded({ exits: [exit(0), exit(3)] }))).toBe(RunEndWhy.FAILED);
    expect(why(allocationEnded({ exits: [exit(0, "SIGSEGV")] }))).toBe(RunEndWhy.FAILED);
  });

  test("after SIGTERM, any exit is the end by the stop, except a recorded end of the training", () => {
    const asked = { ...quiet, stopAcknowledged: true };
    for (const one of [exit(0), exit(1), exit(0, "SIGTERM"), { ...exit(0), code: undefined }]) {
      expect(why(allocationEnded({ exits: [one] }), asked)).toBe(RunEndWhy.ACKNOWLEDGED_STOP);
    }
    expect(why(word(EndReason.ERROR, 1), asked)).toBe(RunEndWhy.ACKNOWLEDGED_STOP);
    expect(why(finished, asked)).toBe(RunEndWhy.FINISHED);
    const error = { reason: EndReason.ERROR, message: "" };
    expect(why(allocationEnded({ ...killed.data, endRecord: error }), asked)).toBe(
      RunEndWhy.KILLED,
    );
  });

  test("a kill is not a failure, and an end record from before it counts", () => {
    expect(why(killed)).toBe(RunEndWhy.KILLED);
    const after = (reason: EndReason) =>
      why(allocationEnded({ ...killed.data, endRecord: { reason, message: "" } }));
    expect(after(EndReason.FINISHED)).toBe(RunEndWhy.FINISHED);
    expect(after(EndReason.ACKNOWLEDGED_STOP)).toBe(RunEndWhy.ACKNOWLEDGED_STOP);
    expect(after(EndReason.INVALID_HYPERPARAMETERS)).toBe(RunEndWhy.INVALID_HYPERPARAMETERS);
  });

  test("an allocation that the platform lost ends the run as lost", () => {
    expect(why(agentLost)).toBe(RunEndWhy.LOST);
    expect(why(launchFailed)).toBe(RunEndWhy.LOST);
    expect(why(allocationEnded({ exits: [] }))).toBe(RunEndWhy.LOST);
    expect(why(allocationEnded({ cause: AllocationEndCause.UNSPECIFIED }))).toBe(RunEndWhy.LOST);
  });

  test("an allocation that was withdrawn from the queue ends the run as withdrawn", () => {
    expect(why(withdrawn)).toBe(RunEndWhy.WITHDRAWN);
  });
});

describe("the time limit of a run", () => {
  const asked = (why: StopWhy) =>
    evolveAllocation(initialAllocation, {
      type: "AllocationStopRequested",
      data: { mode: StopMode.GRACEFUL, why, graceMs: 1 },
    });
  const limited = (ended: typeof finished, allocation = asked(StopWhy.TIME_LIMIT)) =>
    runEnd(1, ended.data, allocation, 0).timeLimited;

  test("is the reason of its end if the run obeyed or was killed", () => {
    expect(limited(acknowledged)).toBe(true);
    expect(limited(killed)).toBe(true);
    expect(limited(finished)).toBeUndefined();
    expect(limited(crashed)).toBeUndefined();
    expect(limited(agentLost)).toBeUndefined();
  });

  test.each([StopWhy.PREEMPTED, StopWhy.DRAIN, StopWhy.PAUSE])(
    "is not the reason of its end if it was stopped for another reason (%i)",
    (why) => expect(limited(acknowledged, asked(why))).toBeUndefined(),
  );

  test("stays the reason when a later pause is withdrawn", () => {
    const paused = fold(evolveAllocation, asked(StopWhy.TIME_LIMIT), [
      {
        type: "AllocationStopRequested",
        data: { mode: StopMode.GRACEFUL, why: StopWhy.PAUSE, graceMs: 1 },
      },
      { type: "AllocationStopWithdrawn", data: { remains: StopWhy.TIME_LIMIT } },
    ]);
    expect(limited(acknowledged, paused)).toBe(true);
  });
});

describe("the message of a run's end", () => {
  const message = (ended: typeof finished) => runEnd(1, ended.data, quiet, 0).message;

  test("is the script's own message if it has one", () => {
    expect(message(crashed)).toBe("ValueError: boom");
  });

  test("without a script's message is the scheduler's, or else comes from the exits", () => {
    expect(message(launchFailed)).toBe("the disk of a1 is full");
    expect(message(allocationEnded({ exits: [exit(0), exit(3)] }))).toBe(
      "node 0 exited with code 3",
    );
    expect(message(allocationEnded({ exits: [exit(0, "SIGSEGV")] }))).toBe(
      "node 0 was ended by SIGSEGV",
    );
    expect(message(allocationEnded())).toBe("");
  });
});
