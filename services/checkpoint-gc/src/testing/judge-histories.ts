/** Runs random histories with and without crashes. Both runs must have the same result, and the oracle must agree. */
import fc from "fast-check";
import { type History, HistoryRun, type Step } from "./histories.ts";

const index = fc.nat(30);
const value = fc.option(fc.integer({ min: -3, max: 3 }));
const checkpoint = fc.record({
  kind: fc.constant("checkpoint" as const),
  trial: index,
  value,
  isValidatedFirst: fc.boolean(),
  isLate: fc.boolean(),
});
const ofTrial: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("restart" as const, "end_trial" as const),
    trial: index,
    isLost: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("continue" as const), trial: index }),
);
const arriving: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("deliver" as const), run: index, count: fc.nat(4) }),
  fc.record({ kind: fc.constant("return" as const), run: index }),
);
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
  { weight: 2, arbitrary: ofTrial },
  { weight: 1, arbitrary: arriving },
  { weight: 2, arbitrary: sweep },
);
const afterEnd = fc.oneof<fc.Arbitrary<Step>[]>(marked, arriving, sweep);
const stored = { kind: "checkpoint", value: null, isValidatedFirst: true, isLate: false } as const;
const alone: readonly Step[] = [{ kind: "trial", from: 0 }];
/** A trial that began from another's checkpoint has ended and is continued. Chance alone rarely draws this. */
const continued: readonly Step[] = [
  ...alone,
  { ...stored, trial: 0 },
  { kind: "trial", from: 0 },
  { ...stored, trial: 1 },
  { ...stored, trial: 0 },
  { kind: "end_trial", trial: 1, isLost: false },
  { kind: "continue", trial: 0 },
];
const history: fc.Arbitrary<History> = fc.record({
  policy: fc.tuple(fc.nat(2), fc.nat(2), fc.nat(2)),
  smaller: fc.boolean(),
  steps: fc
    .tuple(fc.constantFrom(alone, continued), fc.array(step, { maxLength: 30 }))
    .map(([first, steps]): Step[] => [...first, ...steps]),
  later: fc.array(afterEnd, { maxLength: 6 }),
  deletion: fc.constantFrom("none", "undone", "done"),
  duringGrace: fc.array(afterEnd, { maxLength: 3 }),
  afterGrace: fc.array(afterEnd, { maxLength: 3 }),
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
