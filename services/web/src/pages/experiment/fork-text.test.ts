import { describe, expect, it } from "vitest";
import { defaultLines, forkText, seedOverrides } from "./fork-text.ts";

const config = `name: digits
hyperparameters:
  lr:
    type: const
    val: 0.1
max_restarts: 5
searcher:
  name: single
  metric: loss
  smaller_is_better: true
`;
const written = "name: digits\nhyperparameters: {lr: 0.1} # by hand\n";
const submission = (overrides: readonly string[] = [], configText = written) => ({
  config,
  seed: 7,
  record: {
    configText,
    overrides: [...overrides],
    defaulted: ["max_restarts", "searcher.smaller_is_better"],
    platformVersion: "",
    client: "",
  },
});

describe("the text of a fork", () => {
  it("is what the user wrote", () => {
    expect(forkText(submission())).toBe(written);
    expect(forkText(submission(["reproducibility.experiment_seed=7"]))).toBe(written);
  });

  it("is the recorded configuration without defaults, if overrides changed it or a program wrote it", () => {
    for (const of of [
      submission(["name=x"]),
      submission([], '{"name": "x"}'),
      submission([], ""),
    ]) {
      expect(forkText(of)).toContain("val: 0.1");
      expect(forkText(of)).not.toMatch(/max_restarts|smaller_is_better/);
    }
  });

  it("starts from the checkpoint that an override named", () => {
    const source = `  source_trial_id: "1.1"\n  source_checkpoint_uuid: 0b0a3cf6-5d4e-4b4b-8f5d-2f6a3c1d9e10\n`;
    for (const override of [
      'searcher.source_trial_id="1.1"',
      "searcher.source_checkpoint_uuid=x",
    ]) {
      const started = { ...submission([override]), config: config + source };
      expect(forkText(started)).toContain(source);
      expect(forkText(started)).not.toContain("max_restarts");
    }
  });

  it("leaves the defaults to a list of their own", () => {
    expect(defaultLines(submission())).toBe("max_restarts: 5\n  smaller_is_better: true");
  });

  it("keeps the seed unless it names one", async () => {
    const same = ["reproducibility.experiment_seed=7"];
    expect(await seedOverrides(written, 7)).toEqual(same);
    expect(await seedOverrides("reproducibility: {experiment_seed: 1}", 7)).toEqual([]);
    for (const text of ["# experiment_seed: 1\n", "description: as experiment_seed 1\n"]) {
      expect(await seedOverrides(text + written, 7)).toEqual(same);
    }
  });
});
