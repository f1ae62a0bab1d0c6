/**
 * The whole history of a task, before the reactions, folds and read models of each service: they handle it or pass over
 * it. Ids of tasks must park nothing, write nothing about trials and reach no table of another service.
 */
import { type AnyEvent, decodeEvent } from "@trainyard/contracts";
import {
  AllocationEndCause,
  Fault,
  RunEndWhy,
  StopMode,
  StopWhy,
  TaskOutcome,
  WaitCode,
} from "@trainyard/contracts/events";
import { categoryOf, idOf } from "@trainyard/kernel";
import { experimentKey, type ReactionHandlers } from "@trainyard/runtime";
import { Stage } from "@trainyard/runtime/stage";
import { expect, test } from "vitest";
import {
  type ReactionDeps as GcDeps,
  reactionHandlers as gcReactions,
} from "../../services/checkpoint-gc/src/shell/reactions.ts";
import {
  changesOf as gcRows,
  experimentsOf,
} from "../../services/checkpoint-gc/src/shell/index-rows.ts";
import { reactionHandlers as experimentReactions } from "../../services/experiments/src/shell/reactions.ts";
import { noFanOuts, waitsBy } from "../../services/experiments/src/testing/small-fan-outs.ts";
import { DocumentSet } from "../../services/gateway/src/read-model/core/views/documents.ts";
import { project } from "../../services/gateway/src/read-model/core/views/project.ts";
import {
  touchedBy,
  touchedThrough,
} from "../../services/gateway/src/read-model/core/views/touched.ts";
import { reactionHandlers as metricsReactions } from "../../services/metrics/src/shell/reactions.ts";
import { changesOf as unfinishedRows } from "../../services/registry/src/shell/unfinished-rows.ts";
import { reactionHandlers as schedulerReactions } from "../../services/scheduler/src/shell/reactions.ts";
import { isOfFold, recordedEventOf } from "../../services/scheduler/src/shell/follower.ts";
import { Cluster } from "../../services/scheduler/src/core/cluster/cluster.ts";
import { reactionHandlers as searcherReactions } from "../../services/searcher/src/shell/reactions.ts";
import { RunIndex } from "../../services/searcher/src/shell/run-index.ts";

const resources = { pool: "default", slots: 1, priority: 42, weight: 1, singleAgent: true };
const exits = [{ nodeRank: 0, agent: "a1", code: 1, signal: "", message: "" }];
const placements = [{ agent: "a1", slots: ["0"], nodeRank: 0, address: "h" }];

const requested = (run: number): AnyEvent => ({
  type: "RunRequested",
  data: {
    ...{ run, fromCheckpoint: "", fromStep: 0, resources, preemptible: true, experiment: "" },
    ...{ delayMs: 0, workspace: "lab", owner: "ada" },
  },
});

const allocation = (run: number, cause: AllocationEndCause): readonly AnyEvent[] => [
  {
    type: "AllocationQueued",
    data: {
      ...{ task: "t12", run, job: "t12", resources, preemptible: true, delayMs: 0 },
      ...{ workspace: "lab", owner: "ada" },
    },
  },
  { type: "WaitExplained", data: { code: WaitCode.NO_AGENTS, detail: "there is no agent" } },
  {
    type: "AllocationGranted",
    data: { placements, masterAddress: "h", masterPort: 1, tokenKey: "k", folded: 1 },
  },
  { type: "AllocationStarted", data: { starts: [{ agent: "a1", nodeRank: 0, pid: 7 }] } },
  {
    type: "AllocationStopRequested",
    data: { mode: StopMode.GRACEFUL, why: StopWhy.PREEMPTED, graceMs: 1_000 },
  },
  { type: "AllocationStopAcknowledged", data: {} },
  { type: "AllocationEnded", data: { cause, exits, message: "", fault: Fault.HOST } },
];

const ended = (run: number, why: RunEndWhy): AnyEvent => ({
  type: "RunEnded",
  data: { run, why, exits, message: "", countsAsRestart: true, fault: Fault.HOST, triesInRow: 1 },
});
const started = (run: number): AnyEvent => ({
  type: "RunStarted",
  data: { run, allocation: `t12#${run}`, startedAtMs: 1 },
});

/** All events that a task may have, or that name it, in an order that may happen. */
const history: readonly (readonly [stream: string, ...events: readonly AnyEvent[]])[] = [
  [
    "agent-a1",
    {
      type: "AgentJoined",
      data: {
        ...{ pool: "default", labels: {}, version: "1", address: "h", folder: "f", place: "p" },
        slots: [{ id: "0", device: "cpu", uuid: "", memoryBytes: 0 }],
        ...{ startedMs: 1, processGroups: "cgroup", protocol: 1, protocolOldest: 1 },
      },
    },
  ],
  [
    "task-t12",
    {
      type: "TaskCreated",
      data: {
        config: { entrypoint: "true", max_restarts: 1, resources: { slots: 1 } },
        ...{ kind: "command", name: "true", contextDigest: "c", contextBytes: 1 },
        ...{ owner: "ada", workspace: "lab", tokenId: "k", sources: [] },
      },
    },
    requested(1),
  ],
  ["allocation-t12#1", ...allocation(1, AllocationEndCause.AGENT_LOST)],
  ["task-t12", started(1), ended(1, RunEndWhy.LOST), requested(2)],
  [
    "agent-a1",
    { type: "AgentLost", data: { reason: "" } },
    {
      type: "AgentReturned",
      data: {
        occupations: [{ allocation: "t12#1", slots: ["0"] }],
        slots: [{ id: "0", device: "cpu", uuid: "", memoryBytes: 0 }],
        left: { runs: [{ allocation: "t12#1", checkpoints: [], lastValidation: "" }] },
        ...{ folder: "f", place: "p", startedMs: 1 },
      },
    },
    { type: "SlotsCleared", data: { allocation: "t12#1", slots: ["0"] } },
  ],
  [
    "pool-default",
    { type: "JobUpdated", data: { job: "t12", priority: 7 } },
    { type: "JobMoved", data: { job: "t12", place: 1, anchor: "12", ahead: true } },
  ],
  ["allocation-t12#2", ...allocation(2, AllocationEndCause.KILLED)],
  [
    "task-t12",
    { type: "TaskKillRequested", data: { reason: "" } },
    {
      type: "RunStopRequested",
      data: { run: 2, mode: StopMode.KILL, why: StopWhy.KILL, graceMs: 0 },
    },
    { type: "RunStopWithdrawn", data: { run: 2 } },
    ended(2, RunEndWhy.KILLED),
    { type: "TaskEnded", data: { outcome: TaskOutcome.KILLED, reason: "killed", restarts: 1 } },
    { type: "TaskResumed", data: {} },
    requested(3),
  ],
  ["allocation-t12#3", ...allocation(3, AllocationEndCause.EXITED)],
  [
    "task-t12",
    { type: "TaskPauseRequested", data: { reason: "" } },
    ended(3, RunEndWhy.ACKNOWLEDGED_STOP),
    {
      type: "TaskSaved",
      data: { checkpoint: "c1", run: 3, files: 1, bytes: 1, step: 3_000_001 },
    },
    { type: "TaskEnded", data: { outcome: TaskOutcome.PAUSED, reason: "", restarts: 0 } },
    { type: "TaskDeleted", data: {} },
  ],
];

/** Throws at every use: a reaction to an event of a task touches nothing of this. */
const untouched = <Value>(what: string): Value =>
  new Proxy(Object.create(null) as object, {
    get: (_, key) => {
      throw new Error(`${what}.${String(key)} is used for a task`);
    },
  }) as Value;

/** The index of checkpoint-gc for a task that has no save: only its deletion asks for the kept ones. */
const gcOfNoSave: GcDeps = {
  index: Object.assign(Object.create(untouched("the index")) as GcDeps["index"], {
    view: { reach: async () => {} },
    kept: async () => [],
  }),
  time: { look: async () => {}, nowMs: () => 0 },
  graceMs: 0,
};

const services: Readonly<Record<string, (stage: Stage) => ReactionHandlers>> = {
  experiments: () => experimentReactions(waitsBy({ nowMs: () => 0 }), noFanOuts),
  searcher: ({ log }) => searcherReactions(new RunIndex(log), log),
  scheduler: () => schedulerReactions(new Cluster()),
  metrics: () => metricsReactions(untouched("the pool")),
  "checkpoint-gc": () => gcReactions(gcOfNoSave),
};

async function told(stage: Stage): Promise<void> {
  for (const [stream, ...events] of history) await stage.tell(stream, ...events);
}

test.each(Object.entries(services))(
  "%s reacts to the history of a task, or passes over it, and parks nothing",
  async (service, handlers) => {
    const stage = new Stage(service, handlers);
    await told(stage);
    const before = await stage.log.head();
    // Throws if an event is parked.
    await stage.settle();
    const written = await stage.log.readAll(before, 1_000);
    const categories = new Set(written.map(({ stream }) => categoryOf(stream)));
    expect([...categories].filter((one) => one !== "task" && one !== "allocation")).toEqual([]);
    expect(
      written.map(({ stream }) => experimentKey({ stream })).filter((key) => key !== "t12"),
    ).toEqual([]);
  },
);

test("the cluster of the scheduler, and the rows of checkpoint-gc and registry, hold nothing of a deleted task", async () => {
  const stage = new Stage("scheduler", () => ({}));
  await told(stage);
  const cluster = new Cluster();
  for (const stored of await stage.log.readAll(0, 1_000)) {
    if (isOfFold(stored)) cluster.apply(recordedEventOf(stored));
    expect(experimentsOf(stored)).toEqual([]);
    // The rows of checkpoint-gc are those of its saves, of which a task without work has none.
    for (const { values } of gcRows(stored, (name) => name as never)) expect(values[0]).toBe("t12");
    const { timeMs } = stored;
    for (const { values } of unfinishedRows(
      { event: decodeEvent(stored), id: idOf(stored.stream), timeMs },
      "unfinished",
    )) {
      // Rows of checkpoints are named by their trial or task.
      expect(values[0]).toBe("t12");
    }
  }
  expect([...cluster.allocations.keys()]).toEqual([]);
  expect([...(cluster.pools.get("default")?.jobs.keys() ?? [])]).toEqual([]);
  expect(cluster.agents.get("a1")?.ghosts).toEqual({});
});

test("the gateway's read model applies the history of a task, and leaves no run on a slot and no job", async () => {
  const stage = new Stage("gateway", () => ({}));
  await told(stage);
  const documents = new DocumentSet();
  const touched = new Map<string, ReturnType<typeof touchedBy>[number]>();
  for (const stored of await stage.log.readAll(0, 1_000)) {
    const event = decodeEvent(stored);
    const keys = [
      ...touchedBy(stored.stream, event),
      ...touchedThrough(stored.stream, event, documents),
    ];
    for (const key of keys) touched.set(`${key.kind} ${key.id}`, key);
    project(stored, event, documents);
  }
  expect(documents.get("agent", "a1")?.slots.map(({ run }) => run)).toEqual([""]);
  expect(documents.get("job", "t12")).toBeUndefined();
  expect([...touched.keys()].filter((key) => /^(trial|experiment|leaders) /.test(key))).toEqual([]);
});
