import { expect, test } from "vitest";
import { judgeHistories } from "./testing/judge-histories.ts";

/** The full campaign, `npm run -s campaign -- retention`, runs 100,000 histories. */
const histories = 50;

test(`in ${histories} random histories exactly the checkpoints that nothing holds or keeps are condemned, with and without crashes`, async () => {
  const { violation, condemned } = await judgeHistories(histories);
  expect(violation).toBeNull();
  // The test would prove nothing if hardly any history condemned a checkpoint.
  expect(condemned).toBeGreaterThan(histories / 10);
}, 120_000);
