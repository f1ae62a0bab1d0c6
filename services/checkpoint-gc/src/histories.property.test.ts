import { expect, test } from "vitest";
import { judgeHistories } from "./testing/judge-histories.ts";

/** `npm run -s campaign -- retention` takes 100,000. */
const histories = 50;

test(`in ${histories} random histories nothing that is held or kept is condemned, everything else is, and crashes change nothing`, async () => {
  const { violation, condemned } = await judgeHistories(histories);
  expect(violation).toBeNull();
  // The histories are ones in which something happens.
  expect(condemned).toBeGreaterThan(histories / 10);
}, 120_000);
