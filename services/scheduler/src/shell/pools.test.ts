import type { Plain } from "@trainyard/contracts";
import type { PoolInfo } from "@trainyard/contracts/commands";
import { isRejection } from "@trainyard/kernel";
import { defaultSettings } from "@trainyard/scheduling";
import { describe, expect, test } from "vitest";
import { send } from "../testing/send.ts";
import { World } from "../testing/world.ts";

const quotas = [{ workspace: "lab", slots: 1, borrow: true }];
const configure = (
  world: World,
  pool: string,
  policy: string,
  create: boolean,
  rest: object = {},
) =>
  send(world, "ConfigurePool", {
    pool,
    policy,
    settings: { quotas: [], ...rest },
    create,
  });
const remove = (world: World, pool: string) => send(world, "RemovePool", { pool });
const removeAgent = (world: World, agent: string) =>
  send(world, "RemoveAgent", { agent, reason: "", force: false });

async function poolsOf(world: World): Promise<readonly Plain<PoolInfo>[]> {
  const reply = await send(world, "GetPools", {});
  if (isRejection(reply)) throw new Error(reply.detail);
  return reply.pools;
}

async function agentIn(world: World, pool: string, name: string, slots: number) {
  const agent = world.newAgent(name, slots);
  agent.pool = pool;
  await agent.start();
  await world.advance(1_000);
  return agent;
}

describe("a pool", () => {
  test("is created, listed with all defaults, changed, and known to the next scheduler", async () => {
    await using world = await World.open();
    const first = await world.scheduler();
    await agentIn(world, "default", "a1", 2);
    await configure(world, "gpus", "fair_share", true, { preemption: true, quotas });
    const { policy: _, ...defaults } = defaultSettings;
    const empty = { agentsKnown: 0, agentsPresent: 0, slots: 0, slotsFree: 0 };
    const idle = {
      runsWaiting: 0,
      runsPlaced: 0,
      quotas: [],
      reservedFor: "",
      slotsReserved: 0,
      setAside: "",
    };
    const agents = { agentsKnown: 1, agentsPresent: 1, slots: 2, slotsFree: 2 };
    const isDefault = { pool: "default", policy: "priority", settings: defaults };
    const gpus = { pool: "gpus", policy: "fair_share" };
    const settings = { ...defaults, preemption: true, quotas };
    const used = [{ workspace: "lab", slots: 1, used: 0, borrowed: 0 }];
    expect(await poolsOf(world)).toEqual([
      { ...isDefault, ...agents, ...idle },
      { ...gpus, settings, ...empty, ...idle, quotas: used },
    ]);
    await configure(world, "gpus", "priority", false, { fit: "spread" });
    await world.stop(first);
    await world.scheduler();
    const [, changed] = await poolsOf(world);
    expect(changed).toMatchObject({
      policy: "priority",
      settings: { ...defaults, fit: "spread" },
      quotas: [],
    });
  });

  test("is not created if it exists, and not changed if it does not", async () => {
    await using world = await World.open();
    await world.scheduler();
    expect(await configure(world, "gpus", "priority", false)).toEqual({
      rejected: "pool_not_found",
      detail: "pool gpus: the pool does not exist",
    });
    await configure(world, "gpus", "priority", true);
    expect(await configure(world, "gpus", "priority", true)).toMatchObject({
      rejected: "pool_exists",
    });
    expect(await configure(world, "gpus", "best", false)).toMatchObject({
      rejected: "invalid_pool",
      detail: 'the policy "best" is not known: it is one of priority, fair_share, round_robin',
    });
    expect(world.names("pool-gpus")).toEqual(["PoolConfigured"]);
  });

  test("that a user configured before its first agent joined keeps its settings", async () => {
    await using world = await World.open();
    await world.scheduler();
    await configure(world, "gpus", "round_robin", true);
    await agentIn(world, "gpus", "a1", 1);
    expect(world.names("pool-gpus")).toEqual(["PoolConfigured"]);
    expect((await poolsOf(world)).map(({ policy }) => policy)).toEqual(["round_robin"]);
  });

  test("is not removed while it has agents or runs, and the default pool is never removed", async () => {
    await using world = await World.open();
    await world.scheduler();
    const agent = await agentIn(world, "gpus", "a1", 1);
    expect(await remove(world, "default")).toMatchObject({ rejected: "pool_is_default" });
    expect(await remove(world, "other")).toMatchObject({ rejected: "pool_not_found" });
    expect(await remove(world, "gpus")).toMatchObject({
      rejected: "pool_in_use",
      detail:
        "pool gpus: the pool has 1 agent and 0 runs: remove the agents, and end the runs, first",
    });
    agent.silent = true;
    await world.advance(35_000);
    await removeAgent(world, "a1");
    await world.run("1.1#1", { pool: "gpus" });
    expect(await remove(world, "gpus")).toMatchObject({ rejected: "pool_in_use" });
  });

  test("that was removed makes its runs wait, and an agent that joins creates it again", async () => {
    await using world = await World.open();
    const first = await world.scheduler();
    const agent = await agentIn(world, "gpus", "a1", 1);
    await configure(world, "gpus", "round_robin", false);
    agent.silent = true;
    await world.advance(35_000);
    await removeAgent(world, "a1");
    await remove(world, "gpus");
    await world.advance(3_000);
    expect(await poolsOf(world)).toEqual([]);
    expect(world.names("pool-gpus").at(-1)).toBe("PoolRemoved");
    await world.run("1.1#1", { pool: "gpus" });
    await world.advance(4_000);
    expect(world.names("allocation-1.1#1")).toEqual(["AllocationQueued", "WaitExplained"]);
    await world.stop(first);
    await world.scheduler();
    agent.silent = false;
    await world.advance(3_000);
    expect(world.names("allocation-1.1#1").at(-1)).toBe("AllocationStarted");
    expect((await poolsOf(world)).map(({ policy }) => policy)).toEqual(["priority"]);
  });

  test("shows its runs, and how much of its quota a workspace uses", async () => {
    await using world = await World.open();
    await world.scheduler();
    await agentIn(world, "gpus", "a1", 3);
    await configure(world, "gpus", "priority", false, { quotas });
    for (const run of ["1.1#1", "1.2#1"]) {
      await world.run(run, { pool: "gpus" }, { workspace: "lab", owner: "ada" });
    }
    await world.run("2.1#1", { pool: "gpus", slots: 3 });
    const [gpus] = await poolsOf(world);
    expect(gpus).toMatchObject({ reservedFor: "2.1#1", slotsReserved: 3 });
    expect(gpus).toMatchObject({ slots: 3, slotsFree: 1, runsPlaced: 2, runsWaiting: 1 });
    expect(gpus?.quotas).toEqual([{ workspace: "lab", slots: 1, used: 2, borrowed: 1 }]);
    expect(world.last("allocation-1.1#1", "AllocationQueued")).toMatchObject({
      workspace: "lab",
      owner: "ada",
    });
  });
});

test("the default priority of a pool applies to runs without one, from its change on", async () => {
  await using world = await World.open();
  await world.scheduler();
  await agentIn(world, "gpus", "a1", 1);
  const priorityOf = (run: string) =>
    world.last(`allocation-${run}`, "AllocationQueued")?.resources?.priority;
  await world.run("1.1#1", { pool: "gpus", priority: 0 });
  await configure(world, "gpus", "priority", false, { defaultPriority: 10 });
  await world.run("2.1#1", { pool: "gpus", priority: 0 });
  await world.run("3.1#1", { pool: "gpus", priority: 20 });
  expect(["1.1#1", "2.1#1", "3.1#1"].map(priorityOf)).toEqual([42, 10, 20]);
});

describe("whether a run could ever be placed", () => {
  const check = (world: World, pool: string, slots: number, singleAgent = false) =>
    send(world, "CheckPlace", {
      resources: { pool, slots, priority: 42, weight: 1, singleAgent },
    });

  test("depends on all agents of the pool that were not removed, including lost ones", async () => {
    await using world = await World.open();
    await world.scheduler();
    await agentIn(world, "gpus", "a1", 4);
    const agent = await agentIn(world, "gpus", "a2", 8);
    agent.silent = true;
    await world.advance(35_000);
    expect(await check(world, "gpus", 12)).toEqual({ possible: true, detail: "", key: "" });
    expect(await check(world, "gpus", 8, true)).toMatchObject({ possible: true });
    expect(await check(world, "gpus", 13)).toEqual({
      possible: false,
      detail: "all agents of pool gpus have 12 slots together, and the run needs 13",
      key: "slots_per_trial",
    });
    expect(await check(world, "gpus", 9, true)).toEqual({
      possible: false,
      detail: "no agent of pool gpus has 9 slots; the nearest is a2 with 8",
      key: "slots_per_trial",
    });
    await removeAgent(world, "a2");
    expect(await check(world, "gpus", 5)).toMatchObject({ possible: false });
  });

  test("is refused for a pool that does not exist, with the names of the existing pools", async () => {
    await using world = await World.open();
    await world.scheduler();
    expect(await check(world, "gpu", 1)).toEqual({
      possible: false,
      detail: "there is no pool gpu; the only pool is default",
      key: "resource_pool",
    });
    await configure(world, "gpus", "priority", true);
    expect(await check(world, "gpu", 1)).toMatchObject({
      detail: "there is no pool gpu; the pools are default, gpus",
    });
  });

  test("depends on the devices of the agents and their constraints", async () => {
    await using world = await World.open();
    await world.scheduler();
    await agentIn(world, "gpus", "a1", 4);
    const constraints = {
      device: "cuda",
      deviceMemoryBytes: 80e9,
      required: [{ label: "zone", values: ["a"] }],
      preferred: [],
      forbidden: [],
      excludedAgents: [],
      sameLabel: "",
    };
    const resources = { pool: "gpus", slots: 1, priority: 42, weight: 1, singleAgent: false };
    const asked = { resources: { ...resources, constraints } };
    expect(await send(world, "CheckPlace", asked)).toEqual({
      possible: false,
      detail:
        "no agent of pool gpus has 1 cuda slot with 80 GB and zone a; the nearest is a1 with 4 cpu slots: it has no zone",
      key: "constraints",
    });
  });

  test("is unknown if the pool has no agent yet, or can start agents itself", async () => {
    await using world = await World.open();
    await world.scheduler();
    await configure(world, "empty", "priority", true);
    expect(await check(world, "empty", 100)).toMatchObject({ possible: true });
    expect(await check(world, "default", 100)).toMatchObject({ possible: true });
    const autoscaling = {
      agentsMin: 0,
      agentsMax: 2,
      slotsPerAgent: 8,
      idleMs: 1_000,
      startingMs: 1_000,
    };
    await configure(world, "gpus", "priority", true, { autoscaling });
    await agentIn(world, "gpus", "a1", 1);
    expect(await check(world, "gpus", 16)).toMatchObject({ possible: true });
    expect(await check(world, "gpus", 17)).toMatchObject({ possible: false });
  });
});
