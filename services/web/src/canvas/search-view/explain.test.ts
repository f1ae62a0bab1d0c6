import { expect, test } from "vitest";
import { neighboursOf, standingOf, stepAt, stepsOf, stepText } from "./explain.ts";
import type { Picture, PictureDecision, PictureTrial } from "./layout.ts";

function decision(version: number, of: Partial<PictureDecision> = {}): PictureDecision {
  const about = { event: "TrialStopDecided", verb: "stopped", rule: "halving", sentence: "" };
  return { at: { version, atMs: 0, units: 0 }, ...about, ...of };
}

test("a decision at a rung is explained with rank, number kept and cutoff", () => {
  const evidence = { rank: 7, of: 9, kept: 3, cutoff: 0.41234567 };
  expect(standingOf(decision(1, { evidence }))).toBe("rank 7 of 9, 3 kept, cutoff 0.412346");
  expect(standingOf(decision(1, { evidence: { rank: 1, of: 1, kept: 0, cutoff: null } }))).toBe(
    "rank 1 of 1, 0 kept",
  );
  expect(standingOf(decision(1, { evidence: { units: 80 } }))).toBe("");
  expect(standingOf(decision(1))).toBe("");
});

test("neighbours are the trials in the evidence, of rungs and of populations", () => {
  const neighbours = [{ trial: 3, value: 0.5 }, { trial: 4 }, "no trial"];
  expect(neighboursOf(decision(1, { evidence: { neighbours } }))).toEqual([
    { trial: 3, value: 0.5 },
  ]);
  const competitors = [{ trial: 2, value: 1, time: 10 }];
  expect(neighboursOf(decision(1, { evidence: { competitors } }))).toMatchObject([{ trial: 2 }]);
  expect(neighboursOf(decision(1))).toEqual([]);
});

test("steps are the decisions of all trials and of the search, sorted by version", () => {
  const trials = [
    { trial: "5.1", decisions: [decision(4), decision(9, { verb: "resumed" })] },
    { trial: "5.12", decisions: [decision(6)] },
  ] as unknown as readonly PictureTrial[];
  const picture = { trials, decisions: [decision(8, { verb: "finished", rule: "budget" })] };
  const steps = stepsOf(picture as unknown as Picture);
  expect(steps.map(({ version, trial }) => [version, trial])).toEqual([
    [4, 1],
    [6, 12],
    [8, null],
    [9, 1],
  ]);
  expect(steps.map(stepText)).toEqual([
    "trial 1 stopped by halving",
    "trial 12 stopped by halving",
    "search finished by budget",
    "trial 1 resumed by halving",
  ]);
  expect([3, 4, 7, 99].map((version) => stepAt(steps, version))).toEqual([-1, 0, 1, 3]);
});
