import { expect, test } from "vitest";
import { thousand } from "./thousand.ts";

test("a searcher that is killed during a search decides as an undisturbed one, and keeps up", async () => {
  const { violations, lag, takeover } = await thousand({
    trials: 8,
    slots: 4,
    seed: 5,
    log: () => {},
  });
  expect(violations).toEqual([]);
  expect(lag.reports + takeover.reports).toBeGreaterThan(7);
}, 1_200_000);
