import { createMemoryLog } from "@trainyard/event-log/testing";
import type { AppendResult } from "@trainyard/event-log";
import { expect, test } from "vitest";
import { createRegistry } from "../service/telemetry.ts";
import { emptyMeta } from "../work/correlation.ts";
import { workMetrics } from "./work-metrics.ts";

const type = "dev.trainyard.experiment.ExperimentPaused.v1";
const event = { id: "0190e5a0-0000-7000-8000-000000000001", type, body: "{}" };
const request = {
  commitId: "0190e5a0-0000-7000-8000-000000000002",
  writes: [{ stream: "experiment-1", expectedVersion: 0, events: [event] }],
  guards: [],
  meta: emptyMeta,
};

test("appends are counted by result, and the events of the committed ones by type, repeats once", async () => {
  const registry = createRegistry("experiments");
  const { appending } = workMetrics(registry);
  const log = createMemoryLog().as("ty_experiments");
  const results: AppendResult[] = [];
  for (const commitId of [request.commitId, request.commitId, event.id])
    results.push(await log.append({ ...request, commitId }));
  for (const result of [...results, null]) appending(request)(result);
  const lines = (await registry.metrics()).split("\n");
  const counted = lines.filter((line) =>
    /^trainyard_append(s|ed_events)_total\{.* [1-9]/.test(line),
  );
  const service = 'service="experiments"';
  expect(counted).toEqual([
    `trainyard_appends_total{result="committed",${service}} 1`,
    `trainyard_appends_total{result="repeated",${service}} 1`,
    `trainyard_appends_total{result="conflict",${service}} 1`,
    `trainyard_appends_total{result="failed",${service}} 1`,
    `trainyard_appended_events_total{type="ExperimentPaused",${service}} 1`,
  ]);
});
