import type { AnyEvent } from "@trainyard/contracts";
import { AllocationEndCause, Fault, WaitCode } from "@trainyard/contracts/events";
import { createRegistry } from "@trainyard/runtime";
import { expect, test } from "vitest";
import { Cluster } from "./core/cluster/cluster.ts";
import { createTelemetry } from "./telemetry.ts";
import { agentStart } from "./testing/examples.ts";

const origin = { workspace: "", correlationid: "", authid: "", traceparent: "" };
const slots = ["0", "1"].map((id) => ({ id, device: "cpu", uuid: "", memoryBytes: 0 }));
const joined = { pool: "default", slots, labels: {}, version: "1", address: "h", ...agentStart };
const resources = { pool: "default", slots: 1, priority: 42, weight: 0, singleAgent: false };
const queued = { task: "1.1", run: 1, job: "1", resources, preemptible: true, delayMs: 0 };
const place = { masterAddress: "h", masterPort: 20_000, tokenKey: "k", folded: 0 };
const placements = [{ agent: "a1", slots: ["0"], nodeRank: 0, address: "h" }];

type Happened = readonly [atMs: number, id: string, event: AnyEvent];

const queues = (atMs: number, id: string, job = "1"): Happened => [
  atMs,
  id,
  { type: "AllocationQueued", data: { ...queued, job, workspace: "", owner: "" } },
];
const grants = (atMs: number, id: string): Happened => [
  atMs,
  id,
  { type: "AllocationGranted", data: { ...place, placements } },
];
const ends = (
  atMs: number,
  id: string,
  cause: AllocationEndCause = AllocationEndCause.EXITED,
): Happened => [
  atMs,
  id,
  { type: "AllocationEnded", data: { cause, exits: [], message: "", fault: Fault.PLATFORM } },
];

async function after(nowMs: number, ...happened: readonly Happened[]) {
  const registry = createRegistry("scheduler");
  const telemetry = createTelemetry(registry, () => nowMs);
  const cluster = new Cluster();
  telemetry.shows(cluster);
  for (const [index, [timeMs, id, event]] of happened.entries()) {
    const recorded = { position: index + 1, timeMs, eventId: "e", origin, id, event };
    telemetry.recorded(recorded, cluster);
    cluster.apply(recorded);
  }
  const read = async (): Promise<readonly string[]> =>
    (await registry.metrics())
      .replaceAll(/service="scheduler",|,?service="scheduler"/g, "")
      .split("\n")
      .filter((line) => line.startsWith("trainyard_"));
  return { lines: await read(), telemetry, read };
}

test("waiting runs are counted by reason with the age of the oldest one, and runs and jobs by state", async () => {
  const explained = { code: WaitCode.QUOTA, detail: "" };
  const { lines } = await after(
    61_000,
    [0, "a1", { type: "AgentJoined", data: joined }],
    queues(1_000, "1.1#1"),
    queues(31_000, "2.1#1", "2"),
    queues(41_000, "2.2#1", "2"),
    grants(42_000, "2.2#1"),
    [45_000, "1.1#1", { type: "WaitExplained", data: explained }],
  );
  const pool = 'pool="default"';
  expect(lines).toEqual(
    expect.arrayContaining([
      `trainyard_scheduler_waiting_runs{${pool},reason="quota"} 1`,
      `trainyard_scheduler_waiting_runs{${pool},reason="not_explained"} 1`,
      `trainyard_scheduler_oldest_wait_seconds{${pool},reason="quota"} 60`,
      `trainyard_scheduler_oldest_wait_seconds{${pool},reason="not_explained"} 30`,
      `trainyard_scheduler_runs{${pool},state="waiting"} 2`,
      `trainyard_scheduler_runs{${pool},state="launching"} 1`,
      `trainyard_scheduler_jobs{${pool},state="waiting"} 1`,
      `trainyard_scheduler_jobs{${pool},state="running"} 1`,
      `trainyard_scheduler_slots{${pool},state="present"} 2`,
      `trainyard_scheduler_slots{${pool},state="free"} 1`,
      `trainyard_scheduler_slots{${pool},state="held"} 1`,
      'trainyard_scheduler_agents{status="present"} 1',
    ]),
  );
});

test("the queue waits of granted and of cancelled runs are counted, and launches that fail by reason", async () => {
  const { lines } = await after(
    9_000,
    queues(1_000, "1.1#1"),
    grants(6_000, "1.1#1"),
    ends(7_000, "1.1#1", AllocationEndCause.LAUNCH_FAILED),
    queues(1_000, "1.2#1"),
    ends(3_000, "1.2#1", AllocationEndCause.KILLED),
  );
  const wait = "trainyard_scheduler_queue_wait_seconds_sum";
  expect(lines).toContain(`${wait}{pool="default",outcome="granted"} 5`);
  expect(lines).toContain(`${wait}{pool="default",outcome="cancelled"} 2`);
  expect(lines).toContain('trainyard_scheduler_launch_failures_total{reason="platform"} 1');
});

test("a scheduler that no longer decides shows no state of the cluster", async () => {
  const { telemetry, read } = await after(0, [0, "a1", { type: "AgentJoined", data: joined }]);
  telemetry.shows(null);
  const lines = await read();
  expect(lines.filter((line) => /_(slots|agents|jobs|waiting)/.test(line))).toEqual([]);
});

test("the series do not grow with the number of experiments", async () => {
  const many = (count: number): readonly Happened[] =>
    Array.from({ length: count }, (_, at) => `${at + 1}`).flatMap((job) => [
      queues(1_000, `${job}.1#1`, job),
      queues(1_000, `${job}.2#1`, job),
      ends(2_000, `${job}.2#1`),
    ]);
  const [few, thousand] = [await after(9_000, ...many(1)), await after(9_000, ...many(1_000))];
  expect(thousand.lines).toHaveLength(few.lines.length);
});
