import { encodeEvent } from "@trainyard/contracts";
import { expect, test } from "vitest";
import { touchedOf } from "./topics.ts";

test("an event of a newer version touches no document, and the events beside it still count", () => {
  const paused = encodeEvent({ type: "ExperimentPaused", data: {} });
  const { ids, paused: experiments } = touchedOf([
    { stream: "experiment-1", type: "dev.trainyard.experiment.ExperimentSang.v1", body: "{}" },
    { stream: "experiment-2", ...paused },
  ]);
  expect(ids).toEqual(new Map([["experiment", new Set(["2"])]]));
  expect(experiments).toEqual(new Set(["2"]));
});
