import { encodeEvent } from "@trainyard/contracts";
import { RunEndWhy } from "@trainyard/contracts/events";
import { createRegistry, emptyMeta } from "@trainyard/runtime";
import { expect, test } from "vitest";
import { runEnded, trialProposed } from "./testing/examples.ts";
import { createTelemetry } from "./telemetry.ts";

test("events of this service are counted by type and outcome, and others are ignored", async () => {
  const registry = createRegistry("experiments");
  const { count } = createTelemetry(registry);
  const stored = { position: 1, version: 1, id: "", timeMs: 0, commitId: "" };
  count({
    ...stored,
    meta: emptyMeta,
    stream: "trial-12.1",
    ...encodeEvent(runEnded(1, RunEndWhy.LOST)),
  });
  count({ ...stored, meta: emptyMeta, stream: "search-12", ...encodeEvent(trialProposed()) });
  const text = await registry.getSingleMetricAsString("trainyard_runs_ended_total");
  expect(text).toContain('trainyard_runs_ended_total{why="lost",service="experiments"} 1');
});
