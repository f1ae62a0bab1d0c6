import { expect, test } from "vitest";
import { troubledMetrics } from "./troubled-metrics.ts";

/** `npm run -s campaign -- metrics` applies all troubles, several times each. */
test("the stored table equals the reports, and each subscriber gets the stored table, whatever process dies", async () => {
  const said: string[] = [];
  const { violations } = await troubledMetrics({
    seed: 3,
    trials: 1,
    pauseMs: 60,
    troubles: [{ part: "metrics" }, { part: "gateway" }, { part: "nats", wipe: true }],
    log: (line) => said.push(line),
  });
  expect(violations, said.join("\n")).toEqual([]);
}, 300_000);
