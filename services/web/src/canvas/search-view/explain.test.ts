import { expect, test } from "vitest";
import { changedIn, neighboursOf, stepAt, stepsOf, stepText } from "./explain.ts";
import type { Picture, PictureDecision, PictureTrial } from "./layout.ts";

function decision(version: number, of: Partial<PictureDecision> = {}): PictureDecision {
  const about = {
    event: "TrialStopDecided",
    verb: "stopped",
    rule: "halving",
    sentence: "it ranks 7 of 9",
  };
  return { at: { version, atMs: 0, units: 0 }, ...about, ...of };
}

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
  const picture = { trials, decisions: [decision(8, { verb: "finished", sentence: "" })] };
  const steps = stepsOf(picture as unknown as Picture);
  expect(steps.map(({ version, trial }) => [version, trial])).toEqual([
    [4, 1],
    [6, 12],
    [8, null],
    [9, 1],
  ]);
  expect(steps.map(stepText)).toEqual([
    "trial 1 stopped: it ranks 7 of 9",
    "trial 12 stopped: it ranks 7 of 9",
    "search finished",
    "trial 1 resumed: it ranks 7 of 9",
  ]);
  expect([3, 4, 7, 99].map((version) => stepAt(steps, version))).toEqual([-1, 0, 1, 3]);
});
