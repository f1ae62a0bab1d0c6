import { expect, test } from "vitest";
import { hyperparameterNames, metricField, typedField } from "./attributes.ts";

test("a name with special characters is quoted, as filters write it", () => {
  expect(metricField("val/loss")).toBe("metrics.val/loss");
  expect(metricField("top 1")).toBe('metrics."top 1"');
});

test("a typed name is a column if it names a hyperparameter or a metric", () => {
  expect(typedField(" hparams.optimizer.lr ")).toBe("hparams.optimizer.lr");
  expect(typedField('metrics."top 1"')).toBe('metrics."top 1"');
  for (const text of ["lr", "hparams.", "hparams.a b", 'metrics."top', "state"]) {
    expect(typedField(text)).toBeNull();
  }
});

test("hyperparameters below a mapping are named with dots, and a range is one hyperparameter", () => {
  const hyperparameters = {
    batch: 32,
    lr: { type: "log", minval: -4, maxval: -1 },
    optimizer: {
      name: "adam",
      betas: [0.9, 0.99],
      decay: { type: "double", minval: 0, maxval: 1 },
    },
  };
  expect(hyperparameterNames({ hyperparameters })).toEqual([
    "batch",
    "lr",
    "optimizer.name",
    "optimizer.betas",
    "optimizer.decay",
  ]);
  expect(hyperparameterNames(undefined)).toEqual([]);
});
