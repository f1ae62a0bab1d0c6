import { expect, test } from "vitest";
import { checkpointState, experimentState, runState, trialState } from "./state.ts";

test("an experiment's state is shown as a word, and an unknown state by its name", () => {
  expect(experimentState({ state: "STOPPING_KILLED" })).toEqual({
    word: "killing",
    look: "stopping",
  });
  expect(experimentState({ state: "HELD_BACK" }).word).toBe("held back");
});

test("an active experiment and an active trial are shown by what they do", () => {
  expect(experimentState({ state: "ACTIVE", phase: "queued" }).look).toBe("queued");
  expect(trialState({ state: "ACTIVE", phase: "suspended at rung 2" })).toEqual({
    word: "suspended at rung 2",
    look: "suspended",
  });
});

test("a trial that the search stopped is never shown as an error", () => {
  const stopped = trialState({ state: "COMPLETED", phase: "stopped early" });
  expect(stopped).toEqual({ word: "stopped early", look: "stopped-early" });
});

test("an ended run shows how it ended, and a checkpoint what may be done with it", () => {
  expect(runState({ state: "ENDED", whyEnded: "lost" })).toEqual({ word: "lost", look: "error" });
  expect(runState({ state: "QUEUED", whyEnded: "" }).look).toBe("queued");
  expect(checkpointState({ state: "CONDEMNED" }).word).toBe("to be deleted");
});
