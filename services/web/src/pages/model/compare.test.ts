import { describe, expect, it } from "vitest";
import { type ComparedRow, compareVersions, conditionsOf } from "./compare.ts";

type Version = Parameters<typeof compareVersions>[0][number];

const version = (values: Partial<Version>): Version =>
  ({
    checkpoint: "",
    codeDigest: "",
    experiment: "1",
    trial: "1.1",
    stepsCompleted: 10,
    metrics: {},
    ...values,
  }) as Version;

const named = (rows: readonly ComparedRow[], name: string) => rows.find((row) => row.name === name);

describe("versions side by side", () => {
  it("have a row for each metric of any of them", () => {
    const rows = compareVersions([
      version({ metrics: { loss: 0.5 } }),
      version({ metrics: { accuracy: 0.9 } }),
    ]);
    expect(named(rows, "loss")).toEqual({
      group: "Metrics",
      name: "loss",
      values: ["0.5", ""],
      differs: true,
    });
    expect(named(rows, "accuracy")?.values).toEqual(["", "0.9"]);
  });

  it("have no row for metrics that are the position of the training", () => {
    const metrics = { loss: 0.5, batches: 100, epochs: 2, progress: 1 };
    const rows = compareVersions([version({ metrics }), version({ metrics })]);
    expect(rows.filter(({ group }) => group === "Metrics").map(({ name }) => name)).toEqual([
      "loss",
    ]);
  });

  it("name nested hyperparameters by their path, and mark those that differ", () => {
    const rows = compareVersions([
      version({ hyperparameters: { optimizer: { lr: 0.1, name: "sgd" } } }),
      version({ hyperparameters: { optimizer: { lr: 0.2, name: "sgd" } } }),
    ]);
    expect(named(rows, "optimizer.lr")).toMatchObject({ values: ["0.1", "0.2"], differs: true });
    expect(named(rows, "optimizer.name")).toMatchObject({ differs: false });
  });

  it("distinguish a missing value from an inherited property of that name", () => {
    const rows = compareVersions([version({ metrics: { constructor: 1 } }), version({})]);
    expect(named(rows, "constructor")?.values).toEqual(["1", ""]);
  });
});

describe("conditions", () => {
  it("are divided at the word and, in upper or lower case", () => {
    expect(conditionsOf("metrics.loss<0.5 AND label=x")).toEqual(["metrics.loss<0.5", "label=x"]);
  });

  it("keep the word and within JSON text", () => {
    expect(conditionsOf('metrics."top and 5">0.9 and step>3')).toEqual([
      'metrics."top and 5">0.9',
      "step>3",
    ]);
  });

  it("are an empty list for an empty text", () => {
    expect(conditionsOf("  ")).toEqual([]);
  });
});
