import { Fault, RunEndWhy, TrialOutcome } from "@trainyard/contracts/events";
import { encodedBytes } from "@trainyard/contracts";
import { fold, isRejection, limits as platformLimits } from "@trainyard/kernel";
import { given } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { limits } from "../../limits.ts";
import {
  exit,
  runEnded,
  runRequested,
  runStarted,
  trialCheckpointed,
  trialCreated,
  trialEnded,
} from "../../testing/examples.ts";
import { trialDecider } from "./decide.ts";

const running = [trialCreated(), runRequested(1), runStarted(1)] as const;
const endRun = (run: number, why: RunEndWhy) =>
  ({
    kind: "end_run",
    run,
    why,
    exits: [],
    message: "",
    agents: [],
    atMs: 0,
    ...faultOf(why),
  }) as const;
const faultOf = (why: RunEndWhy) => {
  if (why === RunEndWhy.FAILED) return { fault: Fault.SCRIPT };
  return why === RunEndWhy.LOST ? { fault: Fault.HOST } : {};
};

describe("the start of a run", () => {
  test("is recorded once", () => {
    given(trialDecider, trialCreated(), runRequested(1))
      .when({ kind: "start_run", run: 1, allocation: "12.1#1", atMs: 0 })
      .then(runStarted(1));
    given(trialDecider, ...running)
      .when({ kind: "start_run", run: 1, allocation: "12.1#1", atMs: 0 })
      .thenNothing();
  });

  test("is ignored if the run is not the newest", () => {
    given(trialDecider, ...running, runEnded(1, RunEndWhy.LOST), runRequested(2))
      .when({ kind: "start_run", run: 1, allocation: "12.1#1", atMs: 0 })
      .thenNothing();
  });
});

describe("the end of a run", () => {
  test("keeps exits and message, cut to the length that a table can show", () => {
    const message = "x".repeat(limits.messageCharsMax + 1);
    given(trialDecider, ...running)
      .when({ ...endRun(1, RunEndWhy.FAILED), exits: [exit(1)], message })
      .then(
        runEnded(1, RunEndWhy.FAILED, {
          exits: [exit(1)],
          message: message.slice(0, limits.messageCharsMax),
        }),
      );
  });

  test("fits an event even with long exits of a thousand nodes", () => {
    const said = { ...exit(1), agent: "a".repeat(60), message: "\u0007".repeat(2_000) };
    const exits = Array.from({ length: 1_000 }, (_, nodeRank) => ({ ...said, nodeRank }));
    const message = "\u0007".repeat(10_000);
    const decided = trialDecider.decide(fold(trialDecider.evolve, trialDecider.initial, running), {
      ...endRun(1, RunEndWhy.FAILED),
      exits,
      message,
    });
    if (isRejection(decided)) throw new Error(decided.detail);
    const [ended] = decided;
    expect(ended?.data).toMatchObject({ exits: { length: 1_000 } });
    expect(ended && encodedBytes(ended)).toBeLessThan(platformLimits.eventBodyBytesMax);
  });

  test("counts as a restart if the run failed", () => {
    given(trialDecider, ...running)
      .when(endRun(1, RunEndWhy.FAILED))
      .then(runEnded(1, RunEndWhy.FAILED, { countsAsRestart: true }));
  });

  test("does not count as a restart if the checkpoint that the run started from is damaged", () => {
    given(trialDecider, ...running)
      .when({ ...endRun(1, RunEndWhy.FAILED), startDamaged: true })
      .then(runEnded(1, RunEndWhy.FAILED, { countsAsRestart: false }));
  });

  test.each([
    RunEndWhy.FINISHED,
    RunEndWhy.ACKNOWLEDGED_STOP,
    RunEndWhy.LOST,
    RunEndWhy.KILLED,
    RunEndWhy.WITHDRAWN,
    RunEndWhy.INVALID_HYPERPARAMETERS,
  ])("does not count as a restart if the run did not fail (%i)", (why) => {
    given(trialDecider, ...running)
      .when(endRun(1, why))
      .then(runEnded(1, why, { countsAsRestart: false }));
  });

  test.each([RunEndWhy.ACKNOWLEDGED_STOP, RunEndWhy.KILLED])(
    "by its time limit (%i) counts as a restart unless it has a new checkpoint",
    (why) => {
      const limited = { ...endRun(2, why), message: "SIGKILL", timeLimited: true };
      const second = [
        ...running,
        trialCheckpointed("c1", 1, 100),
        runEnded(1, RunEndWhy.ACKNOWLEDGED_STOP),
        runRequested(2, { fromCheckpoint: "c1", fromStep: 100 }),
        runStarted(2),
      ] as const;
      given(trialDecider, ...second)
        .when(limited)
        .then(
          runEnded(2, why, {
            countsAsRestart: true,
            fault: Fault.SCRIPT,
            triesInRow: 1,
            message: "it reached its time limit without a new checkpoint",
          }),
        );
      given(trialDecider, ...second, trialCheckpointed("c2", 2, 150))
        .when(limited)
        .then(runEnded(2, why, { countsAsRestart: false, message: "SIGKILL" }));
      const left = { sealed: [{ checkpoint: "c3", step: 170, bytes: 1 }], atMs: 5 };
      const [ended] = given(trialDecider, ...second)
        .when({ ...limited, left })
        .events();
      expect(ended?.data).toMatchObject({ countsAsRestart: false });
    },
  );

  test("is recorded once, and ignored for a run that is not the newest", () => {
    const lost = [...running, runEnded(1, RunEndWhy.LOST)] as const;
    given(trialDecider, ...lost)
      .when(endRun(1, RunEndWhy.FINISHED))
      .thenNothing();
    given(trialDecider, ...lost, runRequested(2))
      .when(endRun(1, RunEndWhy.FINISHED))
      .thenNothing();
    given(trialDecider).when(endRun(1, RunEndWhy.FINISHED)).thenNothing();
  });
});

describe("ending a trial", () => {
  const end = { kind: "end", outcome: TrialOutcome.COMPLETED, reason: "finished" } as const;
  const ended = trialEnded(TrialOutcome.COMPLETED, "finished");

  test("is recorded once", () => {
    const history = [...running, runEnded(1, RunEndWhy.FINISHED)] as const;
    given(trialDecider, ...history)
      .when(end)
      .then(ended);
    given(trialDecider, ...history, ended)
      .when(end)
      .thenNothing();
  });

  test("is refused while a run has not ended, or before the trial exists", () => {
    given(trialDecider, ...running)
      .when(end)
      .thenRejected("run_unended");
    given(trialDecider).when(end).thenRejected("trial_not_open");
  });
});

describe("creating a trial", () => {
  test("is recorded once", () => {
    const create = { kind: "create", created: trialCreated().data } as const;
    given(trialDecider).when(create).then(trialCreated());
    given(trialDecider, trialCreated()).when(create).thenNothing();
  });
});
