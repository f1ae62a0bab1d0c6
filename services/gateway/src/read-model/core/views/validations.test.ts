import { expect, test } from "vitest";
import { DocumentSet, type TrialDocument } from "./documents.ts";
import { recordValidation, remaining, supersedeValidations } from "./validations.ts";

const metric = "loss";

/** A trial whose documents are in memory, as between two pages of the log. */
function trialWith(smallerIsBetter = true) {
  const documents = new DocumentSet();
  const doc = { id: "1.1", stepsCompleted: 0, records: [], recent: [] };
  documents.put({ kind: "trial", id: "1.1", parent: "1", ordinal: 1, doc: doc as never });
  const trial = (): TrialDocument => documents.get("trial", "1.1") as TrialDocument;
  const report = (step: number, loss: number, more: Readonly<Record<string, number>> = {}): void =>
    recordValidation(
      documents,
      trial(),
      { step, scalars: { loss, accuracy: step, ...more }, position: step },
      { metric, smallerIsBetter },
    );
  return { documents, trial, report };
}

const validations = (documents: DocumentSet): number =>
  documents.rows().filter(({ kind }) => kind === "validation").length;

test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
  "a trial's best value is never %s",
  (value) => {
    for (const smallerIsBetter of [true, false]) {
      const { trial, report } = trialWith(smallerIsBetter);
      report(1, value);
      expect(trial()).not.toHaveProperty("bestValue");
      expect(trial().latest?.values).toEqual({ loss: value, accuracy: 1 });
      report(2, 0.5);
      report(3, value);
      expect(trial()).toMatchObject({ bestValue: 0.5, best: { values: { loss: 0.5 } } });
    }
  },
);

test("a trial whose every validation is better than the one before keeps a bounded document", () => {
  const { documents, trial, report } = trialWith();
  const many = Object.fromEntries(Array.from({ length: 4_000 }, (_, n) => [`layer ${n}`, n / 7]));
  for (let step = 1; step <= 3_000; step += 1) report(step, 1 / step, step % 500 === 0 ? many : {});
  expect(trial().records.length).toBeLessThan(1_000);
  expect(validations(documents)).toBeLessThan(100);
  expect(trial().latest).toMatchObject({ isWhole: false, values: { loss: 1 / 3_000 } });
  expect(JSON.stringify(trial()).length).toBeLessThan(64 * 1024);
});

test("the latest and the best values of a trial are of all validations of their step", () => {
  const { documents, trial } = trialWith();
  const report = (position: number, step: number, scalars: Readonly<Record<string, number>>) =>
    recordValidation(
      documents,
      trial(),
      { step, scalars, position },
      { metric, smallerIsBetter: true },
    );
  report(1, 5, { first: 1 });
  report(2, 5, { loss: 0.5 });
  report(3, 5, { last: 3 });
  const values = { first: 1, loss: 0.5, last: 3 };
  expect(trial()).toMatchObject({ bestValue: 0.5, latest: { values }, best: { values } });
  report(4, 6, { loss: 0.7 });
  report(5, 6, { last: 4 });
  expect(trial().latest?.values).toEqual({ loss: 0.7, last: 4 });
  expect(trial().best?.values).toEqual(values);
  supersedeValidations(documents, trial(), metric, 5);
  expect(trial()).toMatchObject({
    bestValue: 0.5,
    latest: { values },
    best: { values: { loss: 0.5 } },
  });
});

test("after a rollback of a trial with many records the best is one of at most a few steps before", () => {
  const { documents, trial, report } = trialWith();
  for (let step = 1; step <= 3_000; step += 1) report(step, 1 / step);
  supersedeValidations(documents, trial(), metric, 2_990);
  expect(trial()).toMatchObject({ bestValue: 1 / 2_990, stepsCompleted: 2_990 });
  expect(trial().best?.values).toEqual({ loss: 1 / 2_990, accuracy: 2_990 });
  expect(trial().latest?.values).toEqual({ loss: 1 / 2_990, accuracy: 2_990 });
  for (const step of [2_900, 2_000, 700, 40, 1]) {
    expect(remaining(trial(), step).best?.step).toBeLessThanOrEqual(step);
    supersedeValidations(documents, trial(), metric, step);
    const { bestValue = 0, best } = trial();
    expect(best?.values).toEqual({ loss: bestValue });
    expect(1 / bestValue).toBeLessThanOrEqual(step);
    expect(step - 1 / bestValue).toBeLessThan(64);
  }
  expect(validations(documents)).toBeLessThan(32);
});

test("nothing is left of a trial that starts again from scratch, not even a validation of step 0", () => {
  const { documents, trial, report } = trialWith();
  report(0, 0.5);
  supersedeValidations(documents, trial(), metric, -1);
  expect(trial()).toMatchObject({ stepsCompleted: 0, records: [], recent: [] });
  for (const gone of ["best", "latest", "bestValue"]) expect(trial()).not.toHaveProperty(gone);
  expect(validations(documents)).toBe(0);
});
