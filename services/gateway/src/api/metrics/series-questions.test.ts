import fc from "fast-check";
import { expect, test } from "vitest";
import { apiLimits } from "../limits.ts";
import { questionsOf } from "./series-questions.ts";

const { seriesBucketsMax, seriesPointsMax } = apiLimits;

test("questions for series ask for each series once, in order, with answers that fit", () => {
  const asked = fc.record({
    names: fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 50 }),
    combined: fc.boolean(),
    buckets: fc.integer({ min: 1, max: seriesBucketsMax }),
  });
  const steps = fc.array(fc.integer({ min: 0, max: 2 * seriesPointsMax }), {
    minLength: 1,
    maxLength: 200,
  });
  fc.assert(
    fc.property(steps, asked, (all, { names, combined, buckets }) => {
      const trials = all.map((stepsCompleted, index) => ({ id: `1.${index + 1}`, stepsCompleted }));
      const stepsOf = new Map(trials.map(({ id, stepsCompleted }) => [id, stepsCompleted]));
      const questions = questionsOf(trials, { names, combined, buckets });
      const series = questions.flatMap((question) =>
        (combined ? [""] : question.trials).flatMap((trial) =>
          question.names.map((name) => `${trial} ${name}`),
        ),
      );
      const expected = combined ? [""] : trials.map(({ id }) => id);
      expect(series).toEqual(expected.flatMap((trial) => names.map((name) => `${trial} ${name}`)));
      for (const { trials: some, names: own } of questions) {
        if (combined) expect(some.length).toBe(trials.length);
        const count = own.length * (combined ? 1 : some.length);
        expect(count * buckets).toBeLessThanOrEqual(seriesBucketsMax);
        const steps = some.reduce((total, id) => total + (stepsOf.get(id) ?? 0), 0);
        const sum = steps * own.length;
        if (!combined && some.length > 1) expect(sum).toBeLessThanOrEqual(seriesPointsMax);
      }
    }),
  );
});

test("a hundred trials of 100,000 steps are ten questions", () => {
  const trials = Array.from({ length: 100 }, (_, n) => ({ id: `1.${n}`, stepsCompleted: 100_000 }));
  const asked = { names: ["loss"], combined: false, buckets: 400 };
  expect(questionsOf(trials, asked).map(({ trials: some }) => some.length)).toEqual(
    Array.from({ length: 10 }, () => 10),
  );
});
