import { expect, test } from "vitest";
import type { Experiment } from "./tabs.ts";
import { columnsOf, differingHparams, initialLayout } from "./trial-columns.tsx";
import type { Trial } from "./use-trials.ts";

/** A trial that calls `read` whenever its hyperparameters are read. */
function trial(hyperparameters: Record<string, unknown>, read = (): void => {}): Trial {
  return {
    get hyperparameters() {
      read();
      return hyperparameters;
    },
  } as unknown as Trial;
}

test("hyperparameters differ if a trial has another value, or none", () => {
  const trials = [
    trial({ lr: 0.1, optimizer: { name: "sgd", beta: 1 }, layers: [1, 2] }),
    trial({ lr: 0.2, optimizer: { name: "sgd" }, layers: [1, 2] }),
    trial({ late: 1, lr: 0.1, optimizer: { name: "sgd" }, layers: [1, 2] }),
  ];
  expect(differingHparams(trials)).toEqual(["lr", "optimizer.beta", "late"]);
  expect(differingHparams(trials.slice(0, 1))).toEqual([]);
});

test("a trial took the time in which it ran, not that in which it was suspended", () => {
  const suspended = {
    ...{ hyperparameters: {}, latestValidation: {}, createdAtMs: 0, endedAtMs: 600_000 },
    ...{ ranMs: 40_000, runs: [{ startedAtMs: 1_000 }] },
  } as unknown as Trial;
  const took = columnsOf([suspended], { metric: "loss" } as Experiment).find(
    ({ id }) => id === "took",
  );
  expect(took?.text(suspended)).toBe("40000");
});

test("texts are left-aligned, and a position of the training is no column until the user chooses it", () => {
  const trials = [
    { lr: 0.1, optimizer: "sgd" },
    { lr: 0.2, optimizer: "adam" },
  ].map((hyperparameters) => ({
    hyperparameters,
    latestValidation: { loss: 1, accuracy: 0.5, batches: 10, epochs: 1, progress: 1 },
  })) as unknown as readonly Trial[];
  const experiment = { metric: "loss" } as Experiment;
  const columns = columnsOf(trials, experiment);
  const rightOf = (id: string) => columns.find((column) => column.id === id)?.right;
  expect(rightOf("hparams.lr")).toBe(true);
  expect(rightOf("hparams.optimizer")).toBe(false);
  const shown = initialLayout(trials, experiment).map(({ id }) => id);
  expect(shown.filter((id) => id.startsWith("metrics."))).toEqual(["metrics.accuracy"]);
  expect(columns.map(({ id }) => id)).toContain("metrics.batches");
});

test("the hyperparameters of a trial are flattened once for any number of names", () => {
  let reads = 0;
  const names = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`h${at}`, at]));
  const trials = Array.from({ length: 20 }, () =>
    trial(names, () => {
      reads += 1;
    }),
  );
  differingHparams(trials);
  expect(reads).toBe(20);
});
