/**
 * The guarantees for the first run of the queue: it keeps its reserved slots across takeovers, and the runs that make
 * room for it end.
 */
import { StopMode, StopWhy } from "@trainyard/contracts/events";
import { isRejection } from "@trainyard/kernel";
import type { Service } from "@trainyard/runtime";
import { atRest } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { readSnapshot, writeSnapshot } from "../core/cluster/snapshot.ts";
import { limits } from "../limits.ts";
import { send } from "../testing/send.ts";
import { World } from "../testing/world.ts";

// Runs make room at once: their exemption has tests of its own.
const settings = { quotas: [], preemptExemptMs: 0 };

async function scheduled(world: World, preemption: boolean): Promise<Service> {
  const service = await world.scheduler();
  const configured = { ...settings, preemption };
  const pool = { pool: "default", policy: "priority", settings: configured, create: true };
  const reply = await send(world, "ConfigurePool", pool);
  if (isRejection(reply)) throw new Error(reply.detail);
  return service;
}

async function takenOver(world: World, service: Service): Promise<Service> {
  await world.stop(service);
  const next = await world.scheduler();
  await world.advance(3_000);
  return next;
}

const has = (world: World, run: string, event: string): boolean =>
  world.names(`allocation-${run}`).includes(event);
const stopOf = (world: World, run: string) =>
  world.last(`allocation-${run}`, "AllocationStopRequested");
const fixed = { preemptible: false } as const;

/** A run of 4 slots waits for 2 held slots, and another run has passed it on the reserved slots. */
async function passed(world: World): Promise<Service> {
  const service = await scheduled(world, true);
  await world.agent("a1", 4);
  await world.run("1.1#1", { slots: 2 }, fixed);
  await world.run("2.1#1", { slots: 4 });
  await world.run("3.1#1", { slots: 2 });
  expect(has(world, "3.1#1", "AllocationStarted")).toBe(true);
  return service;
}

describe("a scheduler that takes over", () => {
  test("stops the run that passed the first one on its slots as soon as the first one fits without it", async () => {
    await using world = await World.open();
    await takenOver(world, await passed(world));
    world.agents[0]?.end("1.1#1", { code: 0 });
    await atRest();
    expect(stopOf(world, "3.1#1")).toMatchObject({ why: StopWhy.PREEMPTED, by: "2.1#1" });
    world.agents[0]?.end("3.1#1", { code: 0 });
    await atRest();
    expect(has(world, "2.1#1", "AllocationStarted")).toBe(true);
    world.assertNothingOversubscribed();
  });

  test("keeps the first run's place, however soon another place may become free", async () => {
    await using world = await World.open();
    const first = await scheduled(world, false);
    const a1 = await world.agent("a1", 4);
    await world.run("1.1#1", { slots: 1 });
    await world.run("1.2#1", { slots: 3 });
    const a2 = await world.agent("a2", 4);
    for (let n = 3; n <= 6; n += 1) await world.run(`1.${n}#1`);
    await world.run("2.1#1", { slots: 4, singleAgent: true });
    a1.end("1.2#1", { code: 0 });
    await atRest();
    // Runs with a time limit pass on the other agent, so that the time at which it becomes free is known.
    for (let n = 3; n <= 6; n += 1) {
      await world.run(`3.${n}#1`, { timeLimitMs: 3_600_000 });
      a2.end(`1.${n}#1`, { code: 0 });
      await atRest();
      expect(has(world, `3.${n}#1`, "AllocationStarted")).toBe(true);
    }
    await takenOver(world, first);
    await world.run("4.1#1");
    expect(has(world, "4.1#1", "AllocationGranted")).toBe(false);
    a1.end("1.1#1", { code: 0 });
    await atRest();
    expect(has(world, "2.1#1", "AllocationStarted")).toBe(true);
  });

  test("decides the same from a restored fold as from the log", async () => {
    await using world = await World.open();
    await passed(world);
    const folded = world.fold();
    const saved = readSnapshot(writeSnapshot(folded));
    for (const { pools } of [folded, saved]) {
      const pool = pools.get("default");
      expect(pool?.kept).toMatchObject({ id: "2.1#1", shares: [{ agent: "a1" }] });
      const passing = [...(pool?.placed.borrowersFrom("2.1#1") ?? [])].map(
        ({ demand }) => demand.id,
      );
      expect(passing).toEqual(["3.1#1"]);
    }
    world.agents[0]?.end("1.1#1", { code: 0 });
    world.agents[0]?.end("3.1#1", { code: 0 });
    await world.advance(1_000);
    expect(has(world, "2.1#1", "AllocationStarted")).toBe(true);
    for (const cluster of [world.fold(), world.fold(saved)]) {
      expect(cluster.pools.get("default")?.recorded).toBeNull();
    }
  });
});

describe("a run that waits for others to stop", () => {
  test("does not wait for a run whose stop never becomes a kill: that run gets a deadline", async () => {
    await using world = await World.open();
    await scheduled(world, true);
    for (const name of ["a1", "a2"]) await world.agent(name, 1);
    await world.run("1.1#1", { slots: 2, priority: 50, preemptionTimeoutMs: 5_000 });
    // The run is on both agents, and may take any time to leave the first one.
    const drained = { agent: "a1", slot: "", reason: "", drain: true, deadlineMs: 0 };
    await send(world, "DisableAgent", drained);
    expect(stopOf(world, "1.1#1")).toMatchObject({ why: StopWhy.DRAIN, graceMs: 0 });
    await world.run("2.1#1", { slots: 1, priority: 10 });
    expect(stopOf(world, "1.1#1")).toMatchObject({ why: StopWhy.PREEMPTED, graceMs: 5_000 });
    await world.advance(7_000);
    expect(stopOf(world, "1.1#1").mode).toBe(StopMode.KILL);
    expect(has(world, "2.1#1", "AllocationStarted")).toBe(true);
    world.assertNothingOversubscribed();
  });

  test("does not wait for a run that cannot be killed: another one makes room", async () => {
    await using world = await World.open();
    await scheduled(world, true);
    const agent = await world.agent("a1", 2);
    agent.stubborn = true;
    for (const run of ["1.1#1", "1.2#1"]) {
      await world.run(run, { priority: 50, preemptionTimeoutMs: 5_000 });
    }
    await world.run("2.1#1", { priority: 10 });
    await world.advance(7_000);
    expect(stopOf(world, "1.2#1").mode).toBe(StopMode.KILL);
    expect(has(world, "1.1#1", "AllocationStopRequested")).toBe(false);
    agent.stubborn = false;
    agent.tell("1.2#1", { left: "process 7 is still there" });
    await world.advance(1_000);
    expect(stopOf(world, "1.1#1")).toMatchObject({ why: StopWhy.PREEMPTED, by: "2.1#1" });
    await world.advance(7_000);
    expect(has(world, "2.1#1", "AllocationStarted")).toBe(true);
  });

  test("waits an hour at most for a run that ignores the stop and has no preemption timeout", async () => {
    await using world = await World.open();
    await scheduled(world, true);
    await world.agent("a1", 1);
    await world.run("1.1#1", { priority: 50 });
    await world.run("2.1#1", { priority: 10 });
    expect(stopOf(world, "1.1#1").graceMs).toBe(limits.preemptionTimeoutMs);
    await world.advance(limits.preemptionTimeoutMs - 5_000);
    expect(has(world, "2.1#1", "AllocationGranted")).toBe(false);
    await world.advance(10_000);
    expect(stopOf(world, "1.1#1").mode).toBe(StopMode.KILL);
    expect(has(world, "2.1#1", "AllocationStarted")).toBe(true);
  });
});

describe("a run whose launch failed on an agent", () => {
  test("is placed there again if unkillable processes hold the slots of the other agents", async () => {
    await using world = await World.open();
    await scheduled(world, false);
    const a2 = await world.agent("a2", 1);
    await world.run("1.1#1");
    await world.agent("a1", 1);
    await world.run("2.1#2", {}, { avoided: { agents: ["a1"] } });
    await world.advance(1_000);
    expect(has(world, "2.1#2", "AllocationGranted")).toBe(false);
    a2.tell("1.1#1", { left: "process 7 is still there" });
    await world.advance(2_000);
    const { placements } = world.last("allocation-2.1#2", "AllocationGranted");
    expect(placements.map(({ agent }) => agent)).toEqual(["a1"]);
    world.assertNothingOversubscribed();
  });
});
