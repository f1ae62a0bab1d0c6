import type { Plain } from "@trainyard/contracts";
import type { JobInfo } from "@trainyard/contracts/commands";
import { ExperimentOutcome } from "@trainyard/contracts/events";
import { isRejection } from "@trainyard/kernel";
import { atRest } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import type { Cluster } from "../core/cluster/cluster.ts";
import { readSnapshot, writeSnapshot } from "../core/cluster/snapshot.ts";
import { explainJob } from "../core/pool/explain-job.ts";
import type { ScriptedAgent } from "../testing/scripted-agent.ts";
import { send } from "../testing/send.ts";
import { World } from "../testing/world.ts";

const update = (world: World, job: string, change: object) =>
  send(world, "UpdateJob", { job, ...change });
const move = (world: World, job: string, anchor: string, ahead: boolean) =>
  send(world, "MoveJob", { job, anchor, ahead });
const explain = (world: World, job: string) => send(world, "ExplainJob", { job });

async function jobsOf(world: World, pool = ""): Promise<readonly Plain<JobInfo>[]> {
  const reply = await send(world, "GetJobs", { pool });
  if (isRejection(reply)) throw new Error(reply.detail);
  return reply.jobs;
}

/** A slot that experiment 9 holds, and experiments 1, 2 and 3 in the queue with a run each. */
async function queued(world: World): Promise<ScriptedAgent> {
  const agent = await world.agent("a1", 1);
  for (const job of ["9", "1", "2", "3"]) await world.run(`${job}.1#1`);
  return agent;
}

/** Ends each running run in turn; returns the order in which runs get the slot. */
async function order(world: World, agent: ScriptedAgent): Promise<readonly string[]> {
  for (let ends = 0; ends < 9; ends += 1) {
    for (const { allocation, exit } of agent.held.values()) {
      if (exit === undefined) agent.end(allocation, { code: 0 });
    }
    await atRest();
  }
  return agent.launched.map(({ experiment }) => experiment).slice(1);
}

describe("an experiment's priority, weight and limit", () => {
  test("apply to waiting, placed and later runs, with every scheduler", async () => {
    await using world = await World.open();
    const first = await world.scheduler();
    const agent = await queued(world);
    await update(world, "3", { priority: 10, weight: 2, maxSlots: 4 });
    await update(world, "9", { priority: 7 });
    await world.run("3.2#1");
    await world.stop(first);
    await world.scheduler();

    const jobs = await jobsOf(world);
    expect(jobs.map(({ job, priority }) => [job, priority])).toEqual([
      ["3", 10],
      ["1", 42],
      ["2", 42],
      ["9", 7],
    ]);
    expect(jobs[0]).toMatchObject({ weight: 2, maxSlots: 4, runsWaiting: 2, slotsWanted: 2 });
    expect(jobs.map(({ jobsAhead }) => jobsAhead)).toEqual([0, 1, 2, 0]);
    expect(world.fold().pool("default").placed.get("9.1#1")?.demand.priority).toBe(7);
    expect(await order(world, agent)).toEqual(["3", "3", "1", "2"]);
  });

  test("leave no event when nothing changes, and 0 removes the limit", async () => {
    await using world = await World.open();
    await world.scheduler();
    await queued(world);
    await update(world, "3", { maxSlots: 4 });
    await update(world, "3", { maxSlots: 4 });
    await update(world, "3", { maxSlots: 0 });
    await update(world, "3", { maxSlots: 0 });
    expect(world.names("pool-default")).toEqual(["PoolConfigured", "JobUpdated", "JobUpdated"]);
    const [three] = (await jobsOf(world)).filter(({ job }) => job === "3");
    expect(three?.maxSlots).toBe(0);
  });

  test("outlive the end of the experiment, which forgets its place, and are forgotten at its deletion", async () => {
    await using world = await World.open();
    await world.scheduler();
    await queued(world);
    await update(world, "3", { priority: 10 });
    await move(world, "2", "1", true);
    const before = world.fold();
    const jobOf = (cluster: Cluster, job: string) => cluster.pool("default").jobs.get(job);
    expect(jobOf(before, "3")).toEqual({ first: expect.any(Number), priority: 10 });
    const outcome = ExperimentOutcome.CANCELED;
    for (const job of ["1", "2", "3"]) {
      await world.append(`experiment-${job}`, {
        type: "ExperimentEnded",
        data: { outcome, reason: "" },
      });
    }
    expect(await update(world, "3", { priority: 5 })).toEqual({
      rejected: "experiment_ended",
      detail: "experiment 3: the experiment has ended",
    });
    for (const fold of [world.fold(), world.fold(readSnapshot(writeSnapshot(before)))]) {
      const kept = [...fold.pool("default").jobs].filter(([job]) => job !== "9");
      expect(new Map(kept)).toEqual(
        new Map([
          ["2", { place: expect.any(Number) }],
          ["3", { priority: 10 }],
        ]),
      );
    }
    await world.run("3.2#1");
    const [first] = await jobsOf(world);
    expect(first).toMatchObject({ job: "3", priority: 10 });
    await world.append("experiment-3", { type: "ExperimentDeleted", data: {} });
    expect(jobOf(world.fold(), "3")?.priority).toBeUndefined();
  });

  test.each([
    ["3", { priority: 0 }, "invalid_request", "priority is 0, but it has to be from 1 to 99"],
    ["3", { priority: 100 }, "invalid_request", "priority is 100"],
    ["3", { weight: 0 }, "invalid_request", "weight is 0, but it has to be more than 0"],
    ["3", { weight: 1e-320 }, "invalid_request", "weight is 1e-320, but it has to be from 0.001"],
    ["3", { weight: 1e308 }, "invalid_request", "weight is 1e+308, but it has to be from 0.001"],
    ["3", { weight: Number.POSITIVE_INFINITY }, "invalid_request", "weight is Infinity"],
    ["3", {}, "invalid_request", "give priority, weight or max_slots"],
    ["77", { priority: 4 }, "experiment_not_found", "experiment 77: there is no such experiment"],
    ["no id", { priority: 4 }, "experiment_not_found", "there is no such experiment"],
  ])("are refused for %s with the value %j", async (job, change, rejected, detail) => {
    await using world = await World.open();
    await world.scheduler();
    await world.run("3.1#1");
    const reply = await update(world, job, change);
    expect(reply).toMatchObject({ rejected });
    expect(isRejection(reply) ? reply.detail : "").toContain(detail);
    expect(world.names("pool-default")).toEqual([]);
  });
});

describe("an experiment's place in the queue", () => {
  test("is that of its first run for its later runs, in every list and for every scheduler", async () => {
    await using world = await World.open();
    const first = await world.scheduler();
    const agent = await world.agent("a1", 1);
    for (const run of ["1.1#1", "2.1#1", "2.2#1", "1.1#2", "1.2#1"]) await world.run(run);
    await world.stop(first);
    await world.scheduler();
    const jobs = await jobsOf(world);
    expect(jobs.map(({ job, jobsAhead }) => [job, jobsAhead])).toEqual([
      ["1", 0],
      ["2", 1],
    ]);
    expect(await explain(world, "2")).toMatchObject({ runs: [{ run: "2.1#1", ahead: 2 }, {}] });
    expect(await order(world, agent)).toEqual(["1", "1", "2", "2"]);
  });

  test("is that of the first request, even if that run is delayed", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await world.agent("a1", 1);
    await world.run("9.1#1");
    await world.run("1.1#1", {}, { delayMs: 5_000 });
    for (const run of ["2.1#1", "1.2#1"]) await world.run(run);
    expect(await order(world, agent)).toEqual(["1", "2"]);
  });
});

describe("an experiment that is moved", () => {
  test("behind another stays behind that one's later runs, and before those of its neighbour", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await queued(world);
    await move(world, "1", "2", false);
    for (const run of ["3.2#1", "1.2#1", "2.2#1"]) await world.run(run);
    expect(await order(world, agent)).toEqual(["2", "2", "1", "1", "3", "3"]);
  });

  test("ahead of another is placed before it, and so are its later runs", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await queued(world);
    await move(world, "3", "1", true);
    await world.run("3.2#1");
    expect(world.last("pool-default", "JobMoved")).toMatchObject({ anchor: "1", ahead: true });
    expect(await order(world, agent)).toEqual(["3", "3", "1", "2"]);
  });

  test("behind another is placed between it and the next, and gets its priority", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await queued(world);
    await update(world, "3", { priority: 10 });
    await move(world, "3", "1", false);
    expect(world.last("pool-default", "JobUpdated").priority).toBe(42);
    expect(await order(world, agent)).toEqual(["1", "3", "2"]);
  });

  test("behind the last one stays ahead of runs queued later, even for the next scheduler", async () => {
    await using world = await World.open();
    const first = await world.scheduler();
    const agent = await queued(world);
    await move(world, "1", "3", false);
    await world.run("4.1#1");
    await world.stop(first);
    await world.scheduler();
    await world.advance(1_000);
    expect((await jobsOf(world)).map(({ job }) => job)).toEqual(["2", "3", "1", "4", "9"]);
    expect(await order(world, agent)).toEqual(["2", "3", "1", "4"]);
  });

  test("again and again between the same two others: the first move without room is refused and changes nothing", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await queued(world);
    let reply = await move(world, "3", "2", true);
    for (let moves = 0; moves < 120 && !isRejection(reply); moves += 1) {
      reply = await move(world, moves % 2 === 0 ? "2" : "3", moves % 2 === 0 ? "3" : "2", true);
    }
    expect(reply).toMatchObject({ rejected: "no_place_left" });
    expect((await order(world, agent)).toSorted()).toEqual(["1", "2", "3"]);
  });

  test("is refused relative to itself, to one that does not wait, or without a waiting run", async () => {
    await using world = await World.open();
    await world.scheduler();
    await queued(world);
    expect(await move(world, "1", "1", true)).toMatchObject({ rejected: "invalid_request" });
    expect(await move(world, "1", "77", true)).toEqual({
      rejected: "not_waiting",
      detail: "experiment 1: experiment 77 has no run that waits in pool default",
    });
    expect(await move(world, "9", "1", true)).toMatchObject({ rejected: "not_waiting" });
    expect(await move(world, "77", "1", true)).toMatchObject({ rejected: "experiment_not_found" });
    expect(world.names("pool-default")).toEqual(["PoolConfigured"]);
  });
});

test("the list of experiments has the first 1,000 in queue order", async () => {
  await using world = await World.open();
  await world.scheduler();
  await Promise.all(Array.from({ length: 1_001 }, (_, index) => world.run(`${index + 1}.1#1`)));
  const jobs = await jobsOf(world);
  expect([jobs.length, jobs[0]?.job]).toEqual([1_000, "1"]);
});

describe("an experiment that is explained", () => {
  test("shows where its runs are, why they wait, and how many are ahead", async () => {
    await using world = await World.open();
    await world.scheduler();
    await queued(world);
    await update(world, "2", { priority: 50 });
    const placed = await explain(world, "9");
    expect(placed).toMatchObject({
      job: { job: "9", runsPlaced: 1, slotsHeld: 1 },
      runs: [{ run: "9.1#1", placements: [{ agent: "a1", slots: ["0"] }], reason: "" }],
    });
    expect(await explain(world, "2")).toMatchObject({
      job: { job: "2", priority: 50, jobsAhead: 2 },
      runs: [
        {
          run: "2.1#1",
          resources: { priority: 50, slots: 1 },
          placements: [],
          reason: "behind_others",
          ahead: 2,
        },
      ],
    });
  });

  test("says of a run with slots that its launch has not finished, until it has started", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await world.agent("a1", 1);
    agent.slowStart = true;
    await world.run("1.1#1");
    const launches = expect.stringMatching(/^it has its slots, and its launch has not/) as string;
    expect(await explain(world, "1")).toMatchObject({ runs: [{ detail: launches }] });
    agent.up("1.1#1");
    await world.advance(1_000);
    expect(await explain(world, "1")).toMatchObject({ runs: [{ detail: "" }] });
  });

  test("explains a wait for a pool that does not exist, or for a delay", async () => {
    await using world = await World.open();
    await world.scheduler();
    await world.agent("a1", 1);
    await world.run("1.1#1", { pool: "gpus" });
    await world.run("2.1#1", {}, { delayMs: 60_000 });
    const reply = await explain(world, "1");
    expect(reply).toMatchObject({ runs: [{ reason: "no_agents" }] });
    expect(JSON.stringify(reply)).toContain("the pool gpus does not exist");
    const delayed = await explain(world, "2");
    expect(delayed).toMatchObject({ runs: [{ reason: "delayed" }] });
    expect(JSON.stringify(delayed)).toMatch(/the next one waits until \d{4}-\d\d-\d\dT/);
  });

  test("with many runs is answered for its first 64 runs, waiting ones first", async () => {
    await using world = await World.open();
    await world.scheduler();
    await world.agent("a1", 1);
    for (let trial = 1; trial <= 70; trial += 1) await world.run(`1.${trial}#1`);
    const cluster = world.fold();
    expect(cluster.allocations.size).toBe(70);
    const { runs } = explainJob(cluster, "1") ?? { runs: [] };
    expect(runs.map(({ placements }) => placements.length)).toEqual(Array(64).fill(0));
  });

  test("without a run is not found", async () => {
    await using world = await World.open();
    await world.scheduler();
    expect(await explain(world, "1")).toEqual({
      rejected: "not_found",
      detail: "no run of experiment 1 waits or has a place",
    });
  });
});
