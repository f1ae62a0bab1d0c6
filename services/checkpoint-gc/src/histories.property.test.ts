import { expect, test } from "vitest";
import { HistoryRun, type Step } from "./testing/histories.ts";
import { judgeHistories } from "./testing/judge-histories.ts";

/** The full campaign, `npm run -s campaign -- retention`, runs 100,000 histories. */
const histories = 50;

test(`in ${histories} random histories exactly the checkpoints that nothing holds or keeps are condemned, with and without crashes`, async () => {
  const { violation, condemned } = await judgeHistories(histories);
  expect(violation).toBeNull();
  // The test would prove nothing if hardly any history condemned a checkpoint.
  expect(condemned).toBeGreaterThan(histories / 10);
}, 120_000);

test("of 200 checkpoints without a validation all but the latest are condemned while the run lives", async () => {
  const stored = { kind: "checkpoint", trial: 0, value: null } as const;
  const step: Step = { ...stored, isValidatedFirst: true, isLate: false };
  const checkpoints = Array.from({ length: 200 }, () => step);
  const steps: readonly Step[] = [{ kind: "trial", from: 0 }, ...checkpoints, { kind: "sweep" }];
  const after = {
    later: [],
    duringGrace: [],
    afterGrace: [],
    crashes: [],
    deletion: "none",
  } as const;
  const run = new HistoryRun({ policy: [0, 1, 1], smaller: true, steps, ...after });
  await run.train();
  const condemned = Object.values(run.outcome()).filter((names) => names.length > 0);
  expect(condemned).toHaveLength(199);
  expect(run.violations).toEqual([]);
});
