import { ExperimentOutcome } from "@trainyard/contracts/events";
import { given } from "@trainyard/testing";
import { describe, test } from "vitest";
import { activated, experimentCreated, paused, stopRequested } from "../../testing/examples.ts";
import { experimentDecider } from "./decide.ts";

const active = [experimentCreated(), activated] as const;
const ended = {
  type: "ExperimentEnded",
  data: { outcome: ExperimentOutcome.COMPLETED, reason: "" },
} as const;

describe("activating and pausing", () => {
  test("a paused experiment is activated", () => {
    given(experimentDecider, experimentCreated()).when({ kind: "activate" }).then(activated);
  });

  test("an active experiment is paused, and activated again", () => {
    given(experimentDecider, ...active)
      .when({ kind: "pause" })
      .then(paused);
    given(experimentDecider, ...active, paused)
      .when({ kind: "activate" })
      .then(activated);
  });

  test("a repeated activation or pause changes nothing", () => {
    given(experimentDecider, ...active)
      .when({ kind: "activate" })
      .thenNothing();
    given(experimentDecider, ...active, paused)
      .when({ kind: "pause" })
      .thenNothing();
  });

  test.each(["activate", "pause"] as const)("%s is refused while a stop is under way", (kind) => {
    given(experimentDecider, ...active, stopRequested())
      .when({ kind })
      .thenRejected("experiment_stopping");
  });

  test.each(["activate", "pause"] as const)("%s is refused once the experiment ended", (kind) => {
    given(experimentDecider, ...active, ended)
      .when({ kind })
      .thenRejected("experiment_ended");
  });

  test.each(["activate", "pause"] as const)("%s is refused without an experiment", (kind) => {
    given(experimentDecider).when({ kind }).thenRejected("experiment_not_found");
  });
});
