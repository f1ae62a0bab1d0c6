import { ExperimentOutcome, StopKind } from "@trainyard/contracts/events";
import { given } from "@trainyard/testing";
import { describe, test } from "vitest";
import { limits } from "../../limits.ts";
import { activated, experimentCreated, stopRequested } from "../examples.ts";
import { experimentDecider } from "./decide.ts";

const active = [experimentCreated(), activated] as const;
const cancel = { kind: "stop", stop: StopKind.CANCEL, reason: "enough" } as const;
const kill = { kind: "stop", stop: StopKind.KILL, reason: "enough" } as const;
const end = { kind: "end", outcome: ExperimentOutcome.CANCELED, reason: "enough" } as const;
const ended = {
  type: "ExperimentEnded",
  data: { outcome: ExperimentOutcome.CANCELED, reason: "enough" },
} as const;

describe("stopping for good", () => {
  test("is recorded with its kind and reason", () => {
    given(experimentDecider, ...active)
      .when(cancel)
      .then(stopRequested(StopKind.CANCEL));
    given(experimentDecider, experimentCreated()).when(kill).then(stopRequested(StopKind.KILL));
  });

  test("keeps as much of the reason as an event shows", () => {
    const { reason: _, ...rest } = stopRequested(StopKind.CANCEL).data;
    given(experimentDecider, ...active)
      .when({ ...cancel, reason: "x".repeat(300_000) })
      .then({
        type: "ExperimentStopRequested",
        data: { ...rest, reason: "x".repeat(limits.messageCharsMax) },
      });
  });

  test("a cancel becomes a kill", () => {
    given(experimentDecider, ...active, stopRequested(StopKind.CANCEL))
      .when(kill)
      .then(stopRequested(StopKind.KILL));
  });

  test("the milder of two changes nothing", () => {
    given(experimentDecider, ...active, stopRequested(StopKind.KILL))
      .when(cancel)
      .thenNothing();
    given(experimentDecider, ...active, stopRequested(StopKind.CANCEL))
      .when(cancel)
      .thenNothing();
  });

  test("a stop of an ended experiment changes nothing", () => {
    given(experimentDecider, ...active, ended)
      .when(kill)
      .thenNothing();
  });

  test("needs an experiment and a kind", () => {
    given(experimentDecider).when(kill).thenRejected("experiment_not_found");
    given(experimentDecider, ...active)
      .when({ kind: "stop", stop: StopKind.UNSPECIFIED, reason: "" })
      .thenRejected("invalid_request");
  });
});

describe("ending", () => {
  test("happens once", () => {
    given(experimentDecider, ...active)
      .when(end)
      .then(ended);
    given(experimentDecider, ...active, ended)
      .when(end)
      .thenNothing();
  });
});
