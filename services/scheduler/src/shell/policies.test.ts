import { ExperimentOutcome, StopMode, StopWhy } from "@trainyard/contracts/events";
import { isRejection } from "@trainyard/kernel";
import type { Service } from "@trainyard/runtime";
import { atRest } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { readSnapshot, writeSnapshot } from "../core/cluster/snapshot.ts";
import type { ScriptedAgent } from "../testing/scripted-agent.ts";
import { send } from "../testing/send.ts";
import { World } from "../testing/world.ts";

/** The pool of all runs, with one agent. */
async function poolOf(
  world: World,
  slots: number,
  settings: object = {},
): Promise<{ readonly agent: ScriptedAgent; readonly service: Service }> {
  const service = await world.scheduler();
  const agent = await world.agent("a1", slots);
  // Runs make room at once, unless the test is about their exemption.
  const configured = { quotas: [], preemptExemptMs: 0, ...settings };
  const pool = { pool: "default", policy: "priority", settings: configured, create: false };
  const reply = await send(world, "ConfigurePool", pool);
  if (isRejection(reply)) throw new Error(reply.detail);
  return { agent, service };
}

const stopOf = (world: World, run: string) =>
  world.last(`allocation-${run}`, "AllocationStopRequested");

describe("a large run behind endless small ones", () => {
  test("starts when the runs before it have ended", async () => {
    await using world = await World.open();
    const { agent } = await poolOf(world, 8);
    for (let n = 1; n <= 8; n += 1) await world.run(`1.${n}#1`);
    await world.run("2.1#1", { slots: 8 });
    for (let n = 1; n <= 8; n += 1) {
      await world.run(`3.${n}#1`);
      agent.end(`1.${n}#1`, { code: 0 });
      await atRest();
    }
    expect(world.names("allocation-2.1#1")).toContain("AllocationStarted");
    expect(world.names("allocation-3.1#1")).toEqual(["AllocationQueued"]);
    const granted = world.last("allocation-2.1#1", "AllocationGranted");
    expect(granted.folded).toBeGreaterThan(0);
    world.assertNothingOversubscribed();
  });

  test("is recorded as the reason for which the others wait", async () => {
    await using world = await World.open();
    await poolOf(world, 2);
    await world.run("1.1#1");
    await world.run("2.1#1", { slots: 2 });
    await world.run("3.1#1");
    await world.advance(4_000);
    expect(world.last("allocation-3.1#1", "WaitExplained").detail).toBe(
      "the free slots are reserved for 2.1#1, which is ahead in the queue",
    );
  });
});

test("a turn under round robin continues where the last one ended, also after a takeover", async () => {
  await using world = await World.open();
  const { agent, service } = await poolOf(world, 1);
  const turns = { policy: "round_robin", settings: { quotas: [] } };
  await send(world, "ConfigurePool", { pool: "default", ...turns, create: false });
  await world.run("1.1#1");
  for (const run of ["1.2#1", "2.1#1"]) await world.run(run);
  const saved = readSnapshot(writeSnapshot(world.fold()));
  expect(saved.pool("default").jobs).toEqual(world.fold().pool("default").jobs);
  await world.stop(service);
  await world.scheduler();
  agent.end("1.1#1", { code: 0 });
  await atRest();
  expect(world.names("allocation-2.1#1")).toContain("AllocationGranted");
  expect(world.names("allocation-1.2#1")).not.toContain("AllocationGranted");
});

describe("a pool that preempts", () => {
  test("gives the freed slots to the run for which room was made", async () => {
    await using world = await World.open();
    const { agent } = await poolOf(world, 1, { preemption: true });
    await world.run("1.1#1", { priority: 50, preemptionTimeoutMs: 30_000 });
    await world.run("2.1#1", { priority: 10 });
    await world.run("3.1#1", { priority: 20 });
    expect(stopOf(world, "1.1#1")).toEqual({
      mode: StopMode.GRACEFUL,
      why: StopWhy.PREEMPTED,
      graceMs: 30_000,
      by: "2.1#1",
    });
    agent.end("1.1#1", { code: 0 });
    await atRest();
    expect(world.names("allocation-2.1#1")).toContain("AllocationStarted");
    expect(world.names("allocation-3.1#1")).not.toContain("AllocationGranted");
    world.assertNothingOversubscribed();
  });

  test("kills the run that does not make room within its timeout, and asks no other meanwhile", async () => {
    await using world = await World.open();
    await poolOf(world, 2, { preemption: true });
    for (const run of ["1.1#1", "1.2#1"]) {
      await world.run(run, { priority: 50, preemptionTimeoutMs: 5_000 });
    }
    await world.run("2.1#1", { priority: 10 });
    await world.advance(4_000);
    expect(world.names("allocation-2.1#1")).not.toContain("AllocationGranted");
    await world.advance(3_000);
    expect(stopOf(world, "1.2#1")).toMatchObject({ mode: StopMode.KILL, why: StopWhy.PREEMPTED });
    expect(world.names("allocation-2.1#1")).toContain("AllocationStarted");
    expect(world.names("allocation-1.1#1")).not.toContain("AllocationStopRequested");
  });

  test("asks the same run and no other after another scheduler has taken over", async () => {
    await using world = await World.open();
    const { agent, service } = await poolOf(world, 2, { preemption: true });
    for (const run of ["1.1#1", "1.2#1"]) await world.run(run, { priority: 50 });
    await world.run("2.1#1", { priority: 10 });
    const [first] = ["1.1#1", "1.2#1"].filter((run) =>
      world.names(`allocation-${run}`).includes("AllocationStopRequested"),
    );
    await world.stop(service);
    await world.scheduler();
    await world.advance(60_000);
    const asked = ["1.1#1", "1.2#1"].flatMap((run) =>
      world.names(`allocation-${run}`).filter((name) => name === "AllocationStopRequested"),
    );
    expect(asked).toHaveLength(1);
    agent.end(first ?? "", { code: 0 });
    await atRest();
    expect(world.names("allocation-2.1#1")).toContain("AllocationStarted");
  });
});

describe("a run that makes room", () => {
  test("is the one that was preempted least often, and the count is shown and survives a takeover", async () => {
    await using world = await World.open();
    const { agent, service } = await poolOf(world, 2, { preemption: true });
    for (const run of ["1.1#1", "1.2#1"]) await world.run(run, { priority: 50 });
    await world.run("2.1#1", { priority: 10 });
    expect(stopOf(world, "1.2#1")).toMatchObject({ why: StopWhy.PREEMPTED });
    agent.end("1.2#1", { code: 0 });
    await atRest();
    await world.run("1.2#2", { priority: 50 });
    agent.end("2.1#1", { code: 0 });
    await atRest();
    await world.stop(service);
    await world.scheduler();
    expect(await send(world, "ExplainJob", { job: "1" })).toMatchObject({
      runs: [
        { run: "1.1#1", preemptions: 0 },
        { run: "1.2#2", preemptions: 1 },
      ],
    });
    const saved = readSnapshot(writeSnapshot(world.fold()));
    expect(saved.preemptions.saved()).toEqual([["1", [["1.2", 1]]]]);
    await world.run("2.2#1", { priority: 10 });
    expect(stopOf(world, "1.1#1")).toMatchObject({ why: StopWhy.PREEMPTED });
    const outcome = ExperimentOutcome.CANCELED;
    await world.append("experiment-1", { type: "ExperimentEnded", data: { outcome, reason: "" } });
    expect(world.fold().preemptions.saved()).toEqual([]);
  });

  test("has run for the pool's time of exemption, or has made a checkpoint", async () => {
    await using world = await World.open();
    const { agent } = await poolOf(world, 2, { preemption: true, preemptExemptMs: 30_000 });
    for (const run of ["1.1#1", "1.2#1"]) await world.run(run, { priority: 50 });
    await world.run("2.1#1", { priority: 10 });
    expect(JSON.stringify(await send(world, "ExplainJob", { job: "2" }))).toContain(
      "1.2#1 can make room in 30 s",
    );
    const made = { checkpoint: "c1", run: 1, step: 10 };
    await world.append("trial-1.1", { type: "TrialCheckpointed", data: made });
    expect(stopOf(world, "1.1#1")).toMatchObject({ why: StopWhy.PREEMPTED, by: "2.1#1" });
    agent.end("1.1#1", { code: 0 });
    await world.run("2.2#1", { priority: 10 });
    await world.advance(25_000);
    expect(world.names("allocation-1.2#1")).not.toContain("AllocationStopRequested");
    await world.advance(6_000);
    expect(stopOf(world, "1.2#1")).toMatchObject({ why: StopWhy.PREEMPTED, by: "2.2#1" });
  });
});

describe("a quota", () => {
  test("may be exceeded by a loan, which is shown and ends when others need the slots", async () => {
    await using world = await World.open();
    const quotas = [{ workspace: "lab", slots: 1, borrow: true }];
    const { agent } = await poolOf(world, 2, { quotas });
    for (const run of ["1.1#1", "1.2#1"]) await world.run(run, {}, { workspace: "lab" });
    expect(world.last("allocation-1.1#1", "AllocationGranted").borrowed).toBeUndefined();
    expect(world.last("allocation-1.2#1", "AllocationGranted").borrowed).toBe(1);
    await world.run("2.1#1", {}, { workspace: "other" });
    expect(stopOf(world, "1.2#1")).toMatchObject({ why: StopWhy.PREEMPTED, by: "2.1#1" });
    agent.end("1.2#1", { code: 0 });
    await atRest();
    expect(world.names("allocation-2.1#1")).toContain("AllocationStarted");
  });
});

describe("a time limit", () => {
  test("ends a run gracefully, once", async () => {
    await using world = await World.open();
    await poolOf(world, 1);
    await world.run("1.1#1", { timeLimitMs: 10_000, preemptionTimeoutMs: 4_000 });
    await world.advance(9_000);
    expect(world.names("allocation-1.1#1")).not.toContain("AllocationStopRequested");
    await world.advance(2_000);
    const why = StopWhy.TIME_LIMIT;
    expect(stopOf(world, "1.1#1")).toEqual({ mode: StopMode.GRACEFUL, why, graceMs: 4_000 });
    await world.advance(4_000);
    expect(stopOf(world, "1.1#1")).toMatchObject({ mode: StopMode.KILL, why });
    const stops = world
      .names("allocation-1.1#1")
      .filter((name) => name === "AllocationStopRequested");
    expect(stops).toHaveLength(2);
  });

  test("continues with the remaining time when another scheduler takes over", async () => {
    await using world = await World.open();
    const { service } = await poolOf(world, 1);
    await world.run("1.1#1", { timeLimitMs: 20_000 });
    await world.advance(15_000);
    // The new term learns from the newest event how much time has passed.
    await world.run("9.1#1", { slots: 8 });
    await world.stop(service);
    await world.scheduler();
    await world.advance(4_000);
    expect(world.names("allocation-1.1#1")).not.toContain("AllocationStopRequested");
    await world.advance(3_000);
    expect(stopOf(world, "1.1#1")).toMatchObject({ why: StopWhy.TIME_LIMIT });
  });
});

test("ageing moves a run forward at its time, without any event", async () => {
  await using world = await World.open();
  const { agent } = await poolOf(world, 1, { ageingMs: 10_000 });
  await world.run("1.1#1");
  await world.run("2.1#1", { priority: 44, slots: 1 });
  await world.advance(15_000);
  await world.run("3.1#1", { priority: 43, slots: 1 });
  await world.advance(6_000);
  agent.end("1.1#1", { code: 0 });
  await atRest();
  expect(world.names("allocation-2.1#1")).toContain("AllocationGranted");
  expect(world.names("allocation-3.1#1")).not.toContain("AllocationGranted");
});
