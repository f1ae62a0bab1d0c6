import { expect, test } from "vitest";
import { checkpointChoices } from "./checkpoint-choices.ts";
import { exampleComparison } from "./testing/example-comparison.ts";
import { followedOf } from "./followed.ts";
import { bestTrials, shownMetrics, xChoices } from "./shown.ts";

const metrics = [
  { group: "validation", name: "loss", trials: 3 },
  { group: "training", name: "batches", trials: 3 },
  { group: "training", name: "loss", trials: 2 },
];
const comparison = exampleComparison(
  [
    { id: "12.1", bestValue: 0.3 },
    { id: "12.2", bestValue: 0.2 },
    { id: "12.3" },
    { id: "13.1", bestValue: 0.1 },
    { id: "14.1", bestValue: 0.8 },
    { id: "14.2", bestValue: 0.9 },
  ],
  [{ id: "12" }, { id: "13" }, { id: "14", metric: "accuracy", smallerIsBetter: false }],
  { metrics },
);

test("each metric has a chart, or those of the link, and positions are x axes only", () => {
  expect(shownMetrics(comparison, undefined).shown).toEqual([metrics[0], metrics[2]]);
  expect(shownMetrics(comparison, "training loss~validation f1")).toEqual({
    shown: [metrics[2]],
    unknown: ["validation f1"],
  });
  expect(xChoices(comparison)).toEqual(["step", "time", "batches"]);
});

test("the best trial of each metric and direction keeps its hue", () => {
  expect([...bestTrials(comparison)]).toEqual(["13.1", "14.2"]);
  expect([...bestTrials(exampleComparison([{ id: "12.1" }]))]).toEqual([]);
});

test("a trial looks the same everywhere: its place in the comparison", () => {
  expect(comparison.trials.map(({ id, look }) => `${id} ${look}`)).toEqual([
    "12.1 1",
    "12.2 2",
    "12.3 3",
    "13.1 4",
    "14.1 5",
    "14.2 6",
  ]);
});

test("series of experiments that run are live as far as one stream has topics", () => {
  const states = ["ACTIVE", "COMPLETED", "PAUSED", "STOPPING_KILLED", "ERROR", "CANCELED"];
  const { experiments } = exampleComparison(
    [],
    states.map((state, at) => ({ id: String(at + 1), state })),
  );
  expect(followedOf(experiments)).toEqual({ followed: ["1", "3", "4"], others: [] });
  expect(followedOf(experiments, 2)).toEqual({ followed: ["1", "3"], others: ["4"] });
});

test("the best checkpoint of a trial is registered unless another is chosen", () => {
  const best = (smaller: boolean) => checkpointChoices(checkpoints, judged, smaller);
  expect(best(true)).toMatchObject({ first: "c2", choices: [{}, { isBest: true }, {}] });
  expect(best(false)).toMatchObject({ first: "c1", choices: [{}, {}, { isBest: true }] });
  const unjudged = checkpointChoices(checkpoints, { ...judged, items: [] }, true);
  expect(unjudged.first).toBe("c3");
  expect(unjudged.choices.some(({ isBest }) => isBest)).toBe(false);
});

test("no checkpoint is the best, or chosen at first, while some are not read", () => {
  const more = { nextPageToken: "next" };
  for (const [some, verdicts] of [
    [{ ...checkpoints, ...more }, judged],
    [checkpoints, { ...judged, ...more }],
    [checkpoints, undefined],
  ] as const) {
    const { choices, first } = checkpointChoices(some, verdicts, true);
    expect(choices.map(({ uuid }) => uuid)).toEqual(["c3", "c2", "c1"]);
    expect(choices.some(({ isBest }) => isBest)).toBe(false);
    expect(first).toBe("");
  }
  expect(checkpointChoices(undefined, judged, true)).toEqual({ choices: [], first: "" });
});

const checkpoints = {
  items: [3, 2, 1].map((step) => ({ uuid: `c${step}`, stepsCompleted: step })),
  nextPageToken: "",
};
const judged = {
  items: [
    { checkpoint: "c1", value: 0.5 },
    { checkpoint: "c2", value: 0.1 },
    { checkpoint: "c3" },
    { checkpoint: "other", value: 0 },
  ],
  nextPageToken: "",
};
