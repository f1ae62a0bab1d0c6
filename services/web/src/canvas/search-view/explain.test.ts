import { expect, test } from "vitest";
import { changedIn, neighboursOf, standingOf, stepAt, stepsOf, stepText } from "./explain.ts";
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

test("a comparison in a population names its size if some members have not reported", () => {
  const evidence = { rank: 6, of: 6, places: 8 };
  expect(standingOf(decision(1, { evidence }))).toBe("rank 6 of 6, 8 members");
  expect(standingOf(decision(1, { evidence: { ...evidence, of: 8 } }))).toBe("rank 6 of 8");
});

test("hyperparameters of a copy are shown with the donor's values of those that changed", () => {
  const changes = [
    { hyperparameter: "lr", from: 0.01, to: 0.008 },
    { hyperparameter: "layers", from: 3, to: 3 },
  ];
  const copy = decision(2, { event: "TrialProposed", evidence: { changes } });
  const pairs = [
    ["lr", "0.008"],
    ["layers", "3"],
    ["seed", "7"],
  ] as const;
  const trial = { decisions: [copy, decision(3)] } as unknown as PictureTrial;
  expect(changedIn(pairs, trial)).toEqual([
    { name: "lr", value: "0.008", before: "0.01" },
    { name: "layers", value: "3", before: null },
    { name: "seed", value: "7", before: null },
  ]);
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
