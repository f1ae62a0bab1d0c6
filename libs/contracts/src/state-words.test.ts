import { describe, expect, test } from "vitest";
import { experimentPhase, shownPhase, trialPhase } from "./state-words.ts";

const run = (state: string, whyEnded = "") => ({ state, whyEnded });
const phaseOf = (runs: readonly ReturnType<typeof run>[], suspendedAtRung?: number) =>
  trialPhase({ state: "ACTIVE", reason: "", runs, suspendedAtRung }).word;

describe("the phase of an experiment", () => {
  const phase = (running: number, starting: number, state = "ACTIVE") =>
    experimentPhase({ state, running, starting }).word;

  test("is queued or starting while none of its runs trains", () => {
    expect([phase(0, 0), phase(0, 2), phase(1, 2)]).toEqual(["queued", "starting", "running"]);
  });

  test("is its state unless it is active", () => {
    expect(phase(1, 0, "STOPPING_KILLED")).toBe("killing");
    expect(phase(0, 0, "HELD_BACK")).toBe("held back");
  });
});

describe("the phase of a trial", () => {
  test("is that of its latest run", () => {
    expect(phaseOf([])).toBe("queued");
    expect(phaseOf([run("ENDED", "failed"), run("STARTING")])).toBe("starting");
    expect(phaseOf([run("ENDED", "failed")])).toBe("queued");
  });

  test("names the rung at which the search suspended it, once its run has ended", () => {
    expect(phaseOf([run("ENDED", "acknowledged_stop")], 2)).toBe("suspended at rung 2");
    expect(phaseOf([run("ENDED", "acknowledged_stop")])).toBe("suspended");
    expect(phaseOf([run("STOPPING")], 2)).toBe("stopping");
  });

  test("is never an error if the search stopped it", () => {
    const trial = { state: "COMPLETED", reason: "rank 7 of 9", runs: [run("ENDED", "failed")] };
    expect(trialPhase(trial).word).toBe("stopped early");
  });
});

test("a phase is shown with the look of its word, and an answer without one by its state", () => {
  expect(shownPhase({ phase: "suspended at rung 3", state: "ACTIVE" })).toEqual({
    word: "suspended at rung 3",
    look: "suspended",
  });
  expect(shownPhase({ phase: "stopped early", state: "COMPLETED" }).look).toBe("stopped-early");
  expect(shownPhase({ phase: "", state: "PAUSED" }).word).toBe("paused");
});
