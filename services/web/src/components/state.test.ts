import { expect, test } from "vitest";
import { checkpointState, experimentState, runState, trialState } from "./state.ts";

const run = (state: string, whyEnded = "") => ({
  id: "1.1#1",
  number: 1,
  state,
  whyEnded,
  message: "",
  placements: [],
  requestedAtMs: 0,
  waitsFor: "",
  fromCheckpoint: "",
});
const trial = (state: string, reason: string, ...runs: ReturnType<typeof run>[]) =>
  trialState({ state, reason, runs });

test("an experiment's state is shown as a word, and an unknown state by its name", () => {
  expect(experimentState({ state: "STOPPING_KILLED" })).toEqual({
    word: "killing",
    look: "stopping",
  });
  expect(experimentState({ state: "HELD_BACK" }).word).toBe("held back");
});

test("an active trial looks like its latest run", () => {
  expect(trial("ACTIVE", "").word).toBe("queued");
  expect(trial("ACTIVE", "", run("ENDED", "failed"), run("RUNNING")).word).toBe("running");
  expect(trial("ACTIVE", "", run("ENDED", "acknowledged_stop")).look).toBe("suspended");
  expect(trial("ACTIVE", "", run("ENDED", "failed")).look).toBe("queued");
});

test("a trial that the search stopped is never shown as an error", () => {
  const stopped = trial("COMPLETED", "rank 7 of 9", run("ENDED", "acknowledged_stop"));
  expect(stopped).toEqual({ word: "stopped early", look: "stopped-early" });
  expect(trial("COMPLETED", "finished", run("ENDED", "finished")).look).toBe("completed");
});

test("an ended run shows how it ended, and a checkpoint what may be done with it", () => {
  expect(runState(run("ENDED", "lost"))).toEqual({ word: "lost", look: "error" });
  expect(runState(run("QUEUED")).look).toBe("queued");
  expect(checkpointState({ state: "CONDEMNED" }).word).toBe("to be deleted");
});
