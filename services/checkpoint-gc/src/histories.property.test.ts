import process from "node:process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type History, HistoryRun, type Step } from "./testing/histories.ts";

/** The campaign of a release takes 100,000. */
const histories = Number(process.env["TRAINYARD_RETENTION_HISTORIES"] ?? 50);

const index = fc.nat(30);
const value = fc.option(fc.integer({ min: -3, max: 3 }));
const checkpoint = fc.record({ kind: fc.constant("checkpoint" as const), trial: index, value });
const ofTrial = fc.record({
  kind: fc.constantFrom("restart" as const, "end_trial" as const),
  trial: index,
});
const fromOther = fc.record({
  kind: fc.constantFrom("trial" as const, "propose" as const),
  from: index,
});
const marked = fc.record({
  kind: fc.constantFrom("pin" as const, "unpin" as const, "damage" as const, "repair" as const),
  checkpoint: index,
});
const sweep = fc.constant<Step>({ kind: "sweep" });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: checkpoint },
  { weight: 2, arbitrary: fromOther },
  { weight: 2, arbitrary: marked },
  { weight: 1, arbitrary: ofTrial },
  { weight: 1, arbitrary: sweep },
);
const history: fc.Arbitrary<History> = fc.record({
  policy: fc.tuple(fc.nat(2), fc.nat(2), fc.nat(2)),
  smaller: fc.boolean(),
  steps: fc
    .array(step, { maxLength: 30 })
    .map((steps): Step[] => [{ kind: "trial", from: 0 }, ...steps]),
  later: fc.array(marked, { maxLength: 4 }),
  crashes: fc.array(fc.integer({ min: 2, max: 60 }), { maxLength: 4 }),
});

test(`in ${histories} random histories nothing that is held or kept is condemned, everything else is, and crashes change nothing`, {
  timeout: Math.max(120_000, histories * 100),
}, async () => {
  let condemned = 0;
  await fc.assert(
    fc.asyncProperty(history, async (given) => {
      const calm = new HistoryRun({ ...given, crashes: [] });
      const outcome = await calm.run();
      expect(calm.violations).toEqual([]);
      const troubled = new HistoryRun(given);
      expect(await troubled.run()).toEqual(outcome);
      expect(troubled.violations).toEqual([]);
      condemned += Object.values(outcome).flat().length;
    }),
    { numRuns: histories },
  );
  // The histories are ones in which something happens.
  expect(condemned).toBeGreaterThan(histories / 10);
});
