import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { readCases, runCases } from "./case-file.ts";

describe("the checkpoint collection of Determined, corrected", () => {
  const { outcomes, unknown } = runCases(readCases(join(import.meta.dirname, "gc-cases.json")));

  it("is completely known here", () => {
    expect(unknown).toEqual([]);
    expect(outcomes).toHaveLength(8);
  });

  it.each(outcomes.map(({ id, difference }) => [id, difference] as const))("%s", (_, found) => {
    expect(found).toBe(null);
  });
});

test("a case of checkpoints that expects another result fails", () => {
  const checkpoints = [1, 2].map((steps) => ({
    uuid: `c${steps}`,
    trial: 1,
    steps,
    val_metric: 1,
  }));
  const policy = { save_experiment_best: 0, save_trial_best: 0, save_trial_latest: 1 };
  const one = { id: "x", checkpoints, in_registry: [], ...policy, smaller_is_better: true };
  const differences = (...expected: readonly string[]) =>
    runCases({ checkpoint_gc: [{ ...one, expect_delete: expected }] }).outcomes.map(
      ({ difference }) => difference,
    );
  expect(differences("c1")).toEqual([null]);
  expect(differences("c2")).toEqual(['[0] is "c1", expected "c2"']);
  expect(differences()).toEqual(['it is ["c1"], expected []']);
});
