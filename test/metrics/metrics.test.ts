import { expect, test } from "vitest";
import { troubledMetrics } from "./troubled-metrics.ts";

/** `npm run -s campaign -- metrics` strikes with all troubles, several times. */
test("the stored table is what was reported, and each subscriber gets the stored table, whatever dies", async () => {
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
