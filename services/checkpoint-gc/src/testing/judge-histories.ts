/** Runs random histories with and without crashes. Both runs must have the same result, and the oracle must agree. */
import fc from "fast-check";
import { type History, HistoryRun, type Step } from "./histories.ts";

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
  deletion: fc.constantFrom("none", "undone", "done"),
  duringGrace: fc.array(marked, { maxLength: 3 }),
  afterGrace: fc.array(marked, { maxLength: 3 }),
  crashes: fc.array(fc.integer({ min: 2, max: 60 }), { maxLength: 4 }),
});

export type JudgedHistories = {
  /** The smallest history that broke a promise, and the promise; null for none. */
  readonly violation: string | null;
  /** The number of checkpoints that were condemned. A campaign that condemns none proves nothing. */
  readonly condemned: number;
};

/** Runs and judges `count` histories. A seed reproduces them; without a seed they are random. */
export async function judgeHistories(count: number, seed?: number): Promise<JudgedHistories> {
  let condemned = 0;
  const property = fc.asyncProperty(history, async (given) => {
    const calm = new HistoryRun({ ...given, crashes: [] });
    const outcome = await calm.run();
    const troubled = new HistoryRun(given);
    const after = await troubled.run();
    const violations = [...calm.violations, ...troubled.violations];
    if (JSON.stringify(sorted(after)) !== JSON.stringify(sorted(outcome))) {
      const [with_, without] = [JSON.stringify(after), JSON.stringify(outcome)];
      violations.push(`with crashes ${with_}, without ${without}`);
    }
    condemned += Object.values(outcome).flat().length;
    if (violations.length > 0) throw new Error(violations.join("\n"));
  });
  const parameters = { numRuns: count, ...(seed === undefined ? {} : { seed: seed | 0 }) };
  const details = await fc.check(property, parameters);
  const violation = details.failed ? fc.defaultReportMessage(details) : null;
  return { violation: violation ?? null, condemned };
}

const sorted = (outcome: object): readonly unknown[] =>
  Object.entries(outcome).toSorted(([a], [b]) => (a < b ? -1 : 1));
