import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Candidate, condemned, standings } from "./condemned.ts";

const policyOf = (best: number, trialBest: number, latest: number) => ({
  saveExperimentBest: best,
  saveTrialBest: trialBest,
  saveTrialLatest: latest,
});
const at = (trial: number, step: number, value: number | null, run = 1): Candidate => ({
  checkpoint: `${trial}@${step}${run === 1 ? "" : `#${run}`}`,
  trial: `1.${trial}`,
  run,
  step,
  value,
});
const given = (
  candidates: readonly Candidate[],
  policy: [number, number, number],
  smaller = true,
) => [...condemned(candidates, policyOf(...policy), smaller).keys()].sort();

/** The checkpoints of Determined's own test: each one is worse than the one before. */
const worsening = [at(1, 1, 6), at(1, 2, 7), at(1, 3, 8), at(1, 4, 9)];
const two = [...worsening, at(2, 1, 5), at(2, 2, 10)];

describe("the policy gives up", () => {
  test.each<[string, readonly Candidate[], [number, number, number], boolean, string[]]>([
    ["all when nothing is to be saved", worsening, [0, 0, 0], true, ["1@1", "1@2", "1@3", "1@4"]],
    ["all but the best of the trial", worsening, [0, 1, 0], true, ["1@2", "1@3", "1@4"]],
    ["all but the best of the experiment", worsening, [1, 0, 0], true, ["1@2", "1@3", "1@4"]],
    ["all but the one that is both", worsening, [1, 1, 0], true, ["1@2", "1@3", "1@4"]],
    ["all but the latest", worsening, [0, 0, 1], true, ["1@1", "1@2", "1@3"]],
    ["the middle, by default", worsening, [0, 1, 1], true, ["1@2", "1@3"]],
    ["when larger is better, the others", worsening, [1, 0, 0], false, ["1@1", "1@2", "1@3"]],
    ["all but two of the experiment", two, [2, 0, 0], true, ["1@2", "1@3", "1@4", "2@2"]],
    ["per trial, all but its best", two, [0, 1, 0], true, ["1@2", "1@3", "1@4", "2@2"]],
    ["per trial, all but its latest", two, [0, 0, 1], true, ["1@1", "1@2", "1@3", "2@1"]],
    ["nothing of what it saves twice over", two, [6, 9, 9], true, []],
  ])("%s", (_, candidates, policy, smaller, expected) => {
    expect(given(candidates, policy, smaller)).toEqual(expected);
  });

  test("a checkpoint that was never validated, unless it is the latest of its trial", () => {
    const unvalidated = [at(1, 1, null), at(1, 2, null), at(2, 1, null), at(3, 1, null)];
    expect(given(unvalidated, [0, 1, 1])).toEqual(["1@1"]);
    expect(given(unvalidated, [5, 5, 0])).toEqual(["1@1", "1@2", "2@1", "3@1"]);
  });

  test("the older run's checkpoint, of two at the same step", () => {
    expect(given([at(1, 5, null), at(1, 5, null, 2)], [0, 0, 1])).toEqual(["1@5"]);
  });

  test.each([
    ["a", "b"],
    ["b", "a"],
  ])("the one stored earlier, of two of a run at the same step: %s before %s", (earlier, later) => {
    const [first, last] = [earlier, later].map((id) => ({ ...at(1, 5, 0.5), checkpoint: id }));
    const candidates = [at(1, 4, 0.6), first, last].filter((one) => one !== undefined);
    expect(given(candidates, [0, 1, 1])).toEqual(["1@4", earlier]);
  });

  test("the checkpoint with more steps, of two with equal values", () => {
    expect(given([at(1, 2, 1), at(1, 1, 1)], [1, 0, 0])).toEqual(["1@2"]);
  });
});

describe("a checkpoint whose value may still arrive", () => {
  const waiting = { ...at(1, 2, null), awaits: "its reports have not arrived" };
  const others = [at(1, 1, 5), at(1, 3, 7), at(1, 4, 9)];

  test("is kept with the reason, and the others are judged as without it", () => {
    expect(given([waiting, ...others], [0, 1, 1])).toEqual(given(others, [0, 1, 1]));
    const standing = standings([waiting, ...others], policyOf(0, 1, 1), true).get("1@2");
    expect(standing).toEqual({ keptBy: ["its reports have not arrived"], competitors: [] });
  });

  test("names only the ranking that keeps it anyway", () => {
    const latest = { ...at(1, 5, null), awaits: "its reports have not arrived" };
    const standing = standings([latest, ...others], policyOf(0, 1, 1), true).get("1@5");
    expect(standing?.keptBy).toEqual(["the latest of its trial"]);
  });
});

describe("the evidence of a condemnation", () => {
  test("names the checkpoints that outrank the condemned one, by value and by steps", () => {
    const evidence = condemned(worsening, policyOf(0, 1, 1), true).get("1@2");
    expect(evidence).toEqual([
      { checkpoint: "1@1", step: 1, value: 6 },
      { checkpoint: "1@4", step: 4, value: 9 },
      { checkpoint: "1@3", step: 3, value: 8 },
    ]);
  });

  test("has at most 16 competitors", () => {
    const many = Array.from({ length: 100 }, (_, n) => at(1, n, n % 7));
    for (const competitors of condemned(many, policyOf(0, 0, 0), true).values()) {
      expect(competitors.length).toBeLessThanOrEqual(16);
    }
  });
});

test("each trial keeps its latest and its best, and no more than the policy saves, for every history", () => {
  const candidate = fc.record({
    trial: fc.integer({ min: 1, max: 4 }),
    step: fc.integer({ min: 0, max: 20 }),
    value: fc.option(fc.double({ noNaN: true, min: -5, max: 5 })),
  });
  const histories = fc.uniqueArray(candidate, {
    selector: ({ trial, step }) => `${trial}@${step}`,
    maxLength: 30,
  });
  fc.assert(
    fc.property(histories, fc.nat(3), fc.boolean(), (history, best, smaller) => {
      const candidates = history.map(({ trial, step, value }) => at(trial, step, value));
      const gone = condemned(candidates, policyOf(best, 1, 1), smaller);
      const kept = candidates.filter(({ checkpoint }) => !gone.has(checkpoint));
      for (const trial of new Set(candidates.map((one) => one.trial))) {
        const own = candidates.filter((one) => one.trial === trial);
        const last = Math.max(...own.map(({ step }) => step));
        expect(kept.some((one) => one.trial === trial && one.step === last)).toBe(true);
        const values = own.flatMap(({ value }) => (value === null ? [] : [value]));
        const top = smaller ? Math.min(...values) : Math.max(...values);
        if (values.length > 0) {
          expect(kept.some((one) => one.trial === trial && one.value === top)).toBe(true);
        }
      }
      const trials = new Set(candidates.map(({ trial }) => trial)).size;
      expect(kept.length).toBeLessThanOrEqual(best + 2 * trials);
    }),
  );
});
