/** Tests of errors of the scheduler itself: what throws is set aside with its reason, and all others continue. */
import { isRejection } from "@trainyard/kernel";
import { FoldCache } from "@trainyard/runtime";
import { afterEach, expect, test, vi } from "vitest";
import { Cluster } from "../core/cluster/cluster.ts";
import { explanations } from "../core/reconcile/explanations.ts";
import { Guard } from "../core/reconcile/guard.ts";
import { limits } from "../limits.ts";
import { send } from "../testing/send.ts";
import type { ScriptedAgent } from "../testing/scripted-agent.ts";
import { World } from "../testing/world.ts";

afterEach(() => void vi.restoreAllMocks());

const boom = new Error("boom");

/** Whether a caller of the present function is in the source file of that name. */
const isCalledBy = (file: string): boolean => new Error().stack?.includes(file) === true;

async function agentIn(world: World, pool: string, name: string): Promise<ScriptedAgent> {
  const agent = world.newAgent(name, 4);
  agent.pool = pool;
  await agent.start();
  await world.advance(1_000);
  return agent;
}

async function asideIn(world: World, pool: string): Promise<string | undefined> {
  const reply = await send(world, "GetPools", {});
  if (isRejection(reply)) throw new Error(reply.detail);
  return reply.pools.find((one) => one.pool === pool)?.setAside;
}

const newest = (world: World, run: string) => world.names(`allocation-${run}`).at(-1);
const isOfOneTerm = ({ heard }: ScriptedAgent): boolean =>
  new Set(heard.map(({ epoch }) => epoch)).size === 1;

test("a pool whose placement throws waits with its reason, and the runs of other pools are placed", async () => {
  await using world = await World.open();
  await world.scheduler();
  await agentIn(world, "bad", "a1");
  const other = await agentIn(world, "default", "a2");
  let isBroken = true;
  const pool = Cluster.prototype.pool;
  vi.spyOn(Cluster.prototype, "pool").mockImplementation(function (this: Cluster, name) {
    if (isBroken && name === "bad" && isCalledBy("reconcile/passes.ts")) throw boom;
    return pool.call(this, name);
  });
  await world.run("1.1#1", { pool: "bad" });
  await world.run("2.1#1", { pool: "default" });
  await world.advance(2_000);
  expect([newest(world, "1.1#1"), newest(world, "2.1#1")]).toEqual([
    expect.not.stringMatching("Started"),
    "AllocationStarted",
  ]);
  expect([await asideIn(world, "bad"), await asideIn(world, "default")]).toEqual([
    "placement of bad: boom",
    "",
  ]);
  isBroken = false;
  await world.advance(limits.setAsideMs + 2_000);
  expect(newest(world, "1.1#1")).toBe("AllocationStarted");
  expect([await asideIn(world, "bad"), isOfOneTerm(other)]).toEqual(["", true]);
});

test("a launch that throws waits with its reason, and other runs of its agent start", async () => {
  await using world = await World.open();
  await world.scheduler();
  const agent = await agentIn(world, "default", "a1");
  let isBroken = true;
  const load = FoldCache.prototype.load;
  vi.spyOn(FoldCache.prototype, "load").mockImplementation(async function (
    this: FoldCache,
    fold,
    id,
  ) {
    if (isBroken && id === "1.1" && isCalledBy("shell/launches.ts")) throw boom;
    return load.call(this, fold, id);
  } as typeof load);
  await world.run("1.1#1");
  await world.run("2.1#1");
  await world.advance(2_000);
  expect([newest(world, "1.1#1"), newest(world, "2.1#1")]).toEqual([
    "AllocationGranted",
    "AllocationStarted",
  ]);
  expect(await asideIn(world, "default")).toBe("launch of 1.1#1: boom");
  isBroken = false;
  await world.advance(limits.setAsideMs + 2_000);
  expect(newest(world, "1.1#1")).toBe("AllocationStarted");
  expect(isOfOneTerm(agent)).toBe(true);
});

test("a pool whose explanation throws has its turn again after a while, and others are explained", () => {
  const meta = { timeMs: 0, eventId: "e", origin: null as never };
  const cluster = new Cluster();
  const resources = { slots: 9, priority: 42, weight: 0, singleAgent: false };
  for (const [index, pool] of ["bad", "default"].entries()) {
    const id = `${index}.1#1`;
    const of = { task: `${index}.1`, run: 1, job: `${index}`, preemptible: true, delayMs: 0 };
    const data = { ...of, resources: { ...resources, pool }, workspace: "", owner: "" };
    const event = { type: "AllocationQueued", data } as const;
    cluster.apply({ ...meta, position: index + 1, id, event });
    cluster.unexplained.add(pool);
  }
  const bad = cluster.pool("bad");
  cluster.pools.set("bad", null as never);
  let nowMs = 0;
  const thrown: string[] = [];
  const guard = new Guard(
    () => nowMs,
    (what, of) => thrown.push(`${what} of ${of}`),
  );
  const explained = () => explanations(cluster, guard, 1e6).map(({ id }) => id);
  expect([explained(), explained(), thrown]).toEqual([
    ["1.1#1"],
    ["1.1#1"],
    ["explanation of bad"],
  ]);
  cluster.pools.set("bad", bad);
  expect(explained()).toEqual(["1.1#1"]);
  nowMs = limits.setAsideMs;
  expect([explained(), thrown]).toEqual([["0.1#1", "1.1#1"], ["explanation of bad"]]);
});
