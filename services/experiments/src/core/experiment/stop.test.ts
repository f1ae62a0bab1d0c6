import { ExperimentOutcome, StopKind } from "@trainyard/contracts/events";
import { given } from "@trainyard/testing";
import { describe, test } from "vitest";
import { limits } from "../../limits.ts";
import { activated, experimentCreated, stopRequested } from "../../testing/examples.ts";
import { experimentDecider } from "./decide.ts";

const active = [experimentCreated(), activated] as const;
const cancel = { kind: "stop", stop: StopKind.CANCEL, reason: "enough" } as const;
const kill = { kind: "stop", stop: StopKind.KILL, reason: "enough" } as const;
const end = { kind: "end", outcome: ExperimentOutcome.CANCELED, reason: "enough" } as const;
const ended = {
  type: "ExperimentEnded",
  data: { outcome: ExperimentOutcome.CANCELED, reason: "enough" },
} as const;

describe("stopping an experiment", () => {
  test("is recorded with its kind and reason", () => {
    given(experimentDecider, ...active)
      .when(cancel)
      .then(stopRequested(StopKind.CANCEL));
    given(experimentDecider, experimentCreated()).when(kill).then(stopRequested(StopKind.KILL));
  });

  test("cuts the reason to the length that an event keeps", () => {
    const { reason: _, ...rest } = stopRequested(StopKind.CANCEL).data;
    given(experimentDecider, ...active)
      .when({ ...cancel, reason: "x".repeat(300_000) })
      .then({
        type: "ExperimentStopRequested",
        data: { ...rest, reason: "x".repeat(limits.messageCharsMax) },
      });
  });

  test("turns a cancel into a kill", () => {
    given(experimentDecider, ...active, stopRequested(StopKind.CANCEL))
      .when(kill)
      .then(stopRequested(StopKind.KILL));
  });

  test("does nothing if the second stop is milder or equal", () => {
    given(experimentDecider, ...active, stopRequested(StopKind.KILL))
      .when(cancel)
      .thenNothing();
    given(experimentDecider, ...active, stopRequested(StopKind.CANCEL))
      .when(cancel)
      .thenNothing();
  });

  test("does nothing for an ended experiment", () => {
    given(experimentDecider, ...active, ended)
      .when(kill)
      .thenNothing();
  });

  test("is refused without an experiment or a kind", () => {
    given(experimentDecider).when(kill).thenRejected("experiment_not_found");
    given(experimentDecider, ...active)
      .when({ kind: "stop", stop: StopKind.UNSPECIFIED, reason: "" })
      .thenRejected("invalid_request");
  });
});

describe("ending an experiment", () => {
  test("happens once", () => {
    given(experimentDecider, ...active)
      .when(end)
      .then(ended);
    given(experimentDecider, ...active, ended)
      .when(end)
      .thenNothing();
  });
});
