/** Prometheus reads a running cluster: expressions of boards and alerts have data, and alerts fire in their states. */
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeStorageMarker } from "@trainyard/blob";
import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { spokenProtocol } from "@trainyard/contracts/agent";
import { createPostgresLog, newEventId } from "@trainyard/event-log";
import { parseEnvFile } from "@trainyard/runtime/environment";
import { emptyMeta } from "@trainyard/runtime";
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { expressions } from "../../compat/metrics/expressions.ts";
import {
  hasPrometheus,
  needPrometheus,
  type Prometheus,
  startPrometheus,
} from "../../world/prometheus.ts";
import { world } from "./cluster.ts";

const soon = { timeout: 60_000, interval: 500 };

let prometheus: Prometheus | undefined;

/** The metrics that have no series in a healthy cluster, and when they have one. */
const onlyWhile: Readonly<Record<string, string>> = {
  trainyard_scheduler_agents_out: "a present agent gets no runs",
  trainyard_scheduler_runs: "a run has not ended",
  trainyard_scheduler_jobs: "a run has not ended",
  trainyard_scheduler_waiting_runs: "a run waits",
  trainyard_scheduler_oldest_wait_seconds: "a run waits",
  trainyard_trials_stopped_total: "a searcher has stopped a trial early",
  trainyard_tasks_ended_total: "a task has ended",
  trainyard_registry_open_checkpoint: "a checkpoint is not complete",
  trainyard_checkpoint_gc_decisions_total: "a checkpoint was condemned",
  trainyard_grpc_request_seconds: "a client has used gRPC",
};

const config = `
name: seen by Prometheus
entrypoint: python3 train.py
hyperparameters: { lr: { type: double, minval: 0, maxval: 1 } }
searcher: { name: random, metric: loss, max_trials: 2 }
environment: { environment_variables: ["STEPS=3"] }
`;

/** The settings of a process of the cluster. */
const settingsOf = (name: string): Readonly<Record<string, string>> =>
  parseEnvFile(readFileSync(join(world.home, "run", "environment", `${name}.env`), "utf8"));

async function asAdministrator(...statements: readonly string[]): Promise<void> {
  const { postgresUrl } = JSON.parse(readFileSync(join(world.home, "cluster.json"), "utf8")) as {
    readonly postgresUrl: string;
  };
  const client = new pg.Client({ connectionString: postgresUrl });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

/** Records events as the scheduler would. */
async function recorded(stream: string, ...events: readonly AnyEvent[]): Promise<void> {
  const connectionString = settingsOf("scheduler")["TRAINYARD_POSTGRES_URL"] ?? "";
  await using log = createPostgresLog({ connectionString, applicationName: "test" });
  const expectedVersion = await log.lastVersion(stream);
  const encoded = events.map((event) => ({ id: newEventId(), ...encodeEvent(event) }));
  const writes = [{ stream, expectedVersion, events: encoded }];
  const commit = { commitId: newEventId(), guards: [], meta: emptyMeta };
  expect(await log.append({ ...commit, writes })).toMatchObject({ kind: "committed" });
}

/** Whether an alert fires with a label that has this value. */
const fires = (alert: string, label: string, value: string) => async (): Promise<boolean> => {
  const firing = (await prometheus?.firing()) ?? [];
  return firing.some((labels) => labels["alertname"] === alert && labels[label] === value);
};

beforeAll(async () => {
  if (hasPrometheus()) prometheus = await startPrometheus(world);
});
afterAll(() => prometheus?.[Symbol.asyncDispose]());

test("each expression of a board or an alert has data on a running cluster, or is of what is not there", async ({
  skip,
}) => {
  needPrometheus(skip);
  await world.client.call("createSubscription", {
    name: "seen",
    delivery: "nats",
    filter: { object: "pool" },
  });
  // On a busy machine a service may be too slow for the first command after its start.
  await world.end(await vi.waitFor(() => world.submit(config, world.code("steps")), soon));
  const excused = Object.keys(onlyWhile);
  const missing = async (): Promise<readonly string[]> => {
    const found: string[] = [];
    for (const { of, expression } of expressions()) {
      if (excused.some((name) => expression.includes(name))) continue;
      const samples = await prometheus?.query(expression);
      if (samples?.length === 0) found.push(`${of}: ${expression}`);
    }
    return found;
  };
  // Rates need two scrapes.
  await vi.waitFor(async () => expect(await missing()).toEqual([]), soon);
  const [all] = (await prometheus?.query('count({job="trainyard"})')) ?? [];
  expect(Number(all?.value[1])).toBeLessThan(10_000);
  await world.client.call("deleteSubscription", { name: "seen" });
});

/** Makes the scheduler see a lost agent; returns how to remove it. */
async function loseAgent(): Promise<() => Promise<unknown>> {
  const slots = [{ id: "0", device: "cpu", uuid: "", memoryBytes: 0 }];
  const place = { address: "h", folder: "f", place: "p", startedMs: 1, processGroups: "cgroup" };
  const joined = { pool: "default", slots, labels: {}, version: "1", ...place, ...spokenProtocol };
  await recorded(
    "agent-gone",
    { type: "AgentJoined", data: joined },
    { type: "AgentLost", data: { reason: "the test says so" } },
  );
  return () => world.client.call("removeAgent", { name: "gone" });
}

async function park(): Promise<() => Promise<unknown>> {
  await asAdministrator(
    `insert into log.parked (consumer, partition, position, key, reason, parked_at_ms)
     values ('searcher', 0, 1, 'a test', 'the test says so', 0)`,
  );
  return () => asAdministrator("delete from log.parked where key = 'a test'");
}

/** Keeps feeds from its database. */
async function shutOut(): Promise<() => Promise<unknown>> {
  await asAdministrator(
    "alter role ty_feeds nologin",
    "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'ty_feeds'",
  );
  return () => asAdministrator("alter role ty_feeds login");
}

async function pauseProcess(): Promise<() => Promise<unknown>> {
  const pid = await world.pidOf("checkpoint-gc");
  process.kill(pid, "SIGSTOP");
  return async () => process.kill(pid, "SIGCONT");
}

test("a lost link, an unready service, a free lease, a silent process, a parked event and a lost agent each fire until they are mended", async ({
  skip,
}) => {
  needPrometheus(skip);
  const states = [
    fires("TrainyardLinkLost", "service", "feeds"),
    fires("TrainyardServiceNotReady", "service", "feeds"),
    fires("TrainyardLeaseUnheld", "service", "feeds"),
    fires("TrainyardServiceAway", "service", "checkpoint-gc"),
    fires("TrainyardParkedEvents", "service", "searcher"),
    fires("TrainyardAgentsLost", "severity", "warning"),
  ];
  const all = () => Promise.all(states.map((isFiring) => isFiring()));
  const mend: (() => Promise<unknown>)[] = [];
  try {
    for (const cause of [shutOut, loseAgent, park, pauseProcess]) mend.push(await cause());
    await expect.poll(all, soon).toEqual(states.map(() => true));
  } finally {
    for (const one of mend) await one();
  }
  await expect.poll(all, soon).toEqual(states.map(() => false));
});

const waiting = `
name: waits in a pool without agents
entrypoint: python3 train.py
searcher: { name: single, metric: loss }
resources: { resource_pool: empty }
`;

async function waitForAgents(): Promise<() => Promise<unknown>> {
  await world.client.call("createPool", { name: "empty" });
  const id = await world.submit(waiting, world.code("steps"));
  return async () => {
    await world.client.call("killExperiment", { experiment: id });
    await world.end(id);
    await world.client.call("removePool", { name: "empty" });
  };
}

async function subscribeAndNotRead(): Promise<() => Promise<unknown>> {
  await world.client.call("createSubscription", { name: "unread", delivery: "pull", after: "0" });
  return () => world.client.call("deleteSubscription", { name: "unread" });
}

/** Gives a storage to another cluster while a run stores there, until the run has ended. */
async function takeStorage(): Promise<() => Promise<unknown>> {
  const root = join(world.folder, "taken");
  const own = `checkpoint_storage: { type: directory, container_path: "${root}" }\n`;
  const id = await world.submitPaused(`${config}${own}`, world.code("steps"));
  mkdirSync(root, { recursive: true });
  const mark = { id: randomUUID() };
  const owner = { log: randomUUID(), witness: { position: 1, id: randomUUID() } };
  await writeStorageMarker(root, { ...mark, owner });
  await world.client.call("activateExperiment", { experiment: id });
  return async () => {
    await writeStorageMarker(root, mark);
    expect(await world.end(id)).toBe("COMPLETED");
  };
}

test("a run without agents, a subscription that nobody reads, a storage of another cluster and what waits for it each fire, and end when they are mended", async ({
  skip,
}) => {
  needPrometheus(skip);
  const states = [
    fires("TrainyardRunWaitsLong", "reason", "no_agents"),
    fires("TrainyardSubscriptionBehind", "delivery", "pull"),
    fires("TrainyardStorageFails", "fault", "storage_of_another_log"),
    fires("TrainyardCheckpointsWait", "severity", "warning"),
  ];
  // The failures of the storage become rarer while the checkpoints wait.
  const fired = new Set<number>();
  const mend: (() => Promise<unknown>)[] = [];
  try {
    for (const cause of [waitForAgents, subscribeAndNotRead, takeStorage]) mend.push(await cause());
    await vi.waitFor(async () => {
      for (const [index, isFiring] of states.entries()) if (await isFiring()) fired.add(index);
      expect(fired.size).toBe(states.length);
    }, soon);
  } finally {
    for (const one of mend) await one();
  }
  const all = () => Promise.all(states.map((isFiring) => isFiring()));
  await expect.poll(all, soon).toEqual(states.map(() => false));
});
