import fc from "fast-check";
import { expect, test } from "vitest";
import type { Demand } from "../demand.ts";
import type { PoolSettings } from "../settings.ts";
import { exampleOffer } from "../testing/example-offer.ts";
import { ToyCluster } from "../testing/toy-cluster.ts";
import { type AutoscalingInput, autoscale } from "./autoscale.ts";
import { type Instance, noMarks } from "./instances.ts";

const limits = {
  agentsMin: 0,
  agentsMax: 5,
  idleMs: 100,
  startingMs: 1_000,
  disconnectedMs: 1_000,
};

/** Decides for agents of four slots, their instances, and runs by their slots, placed as far as they fit. */
function decide(
  agents: number,
  runs: readonly (readonly [slots: number, rest?: Partial<Demand>])[],
  settings: Partial<PoolSettings> = {},
  rest: Partial<AutoscalingInput> = {},
) {
  const ids = Array.from({ length: agents }, (_, n) => `a${n}`);
  const cluster = new ToyCluster(settings, Object.fromEntries(ids.map((id) => [id, 4])));
  for (const [at, [slots, demand]] of runs.entries()) cluster.queue(`r${at}`, slots, demand);
  cluster.pass();
  const instances = ids.map((id): Instance => {
    const isIdle = [...cluster.pool.agents.holdersOf(id)].length === 0;
    return { id, launchedAtMs: 0, state: "running", agent: isIdle ? "idle" : "busy" };
  });
  return autoscale({
    pool: cluster.pool,
    limits,
    newAgent: exampleOffer(4),
    instances,
    marks: noMarks,
    nowMs: 10_000,
    ...rest,
  });
}

const idleFor = (ms: number, ...ids: readonly string[]) => ({
  marks: { ...noMarks, idleSinceMs: new Map(ids.map((id) => [id, 10_000 - ms])) },
});

test("an agent is launched for a run that waits without room", () => {
  expect(decide(1, [[4], [4]]).launch).toBe(1);
});

test("no agent is launched for a run that the next pass places on a free agent; Determined launches one", () => {
  const launched = (compat: PoolSettings["compat"]) => {
    const cluster = new ToyCluster({ compat }, { a: 4 });
    cluster.queue("waits for the next pass", 4);
    const a: Instance = { id: "a", launchedAtMs: 0, state: "running", agent: "idle" };
    const marks = noMarks;
    const { pool } = cluster;
    const newAgent = exampleOffer(4);
    return autoscale({ pool, limits, newAgent, instances: [a], marks, nowMs: 10_000 }).launch;
  };
  expect(launched("")).toBe(0);
  expect(launched("determined")).toBe(1);
});

test("an idle agent with a reserved slot is not terminated", () => {
  const cluster = new ToyCluster({}, { a: 4, b: 4 });
  cluster.queue("on b", 4);
  cluster.pass();
  const [share] = cluster.running.get("on b") ?? [];
  cluster.queue("head", 8);
  cluster.pass();
  const idle = share?.agent === "a" ? "b" : "a";
  const decided = autoscale({
    pool: cluster.pool,
    limits: { ...limits, agentsMax: 2 },
    newAgent: exampleOffer(4),
    instances: [
      { id: idle, launchedAtMs: 0, state: "running", agent: "idle" },
      { id: share?.agent ?? "", launchedAtMs: 0, state: "running", agent: "busy" },
    ],
    ...idleFor(101, idle),
    nowMs: 10_000,
  });
  expect(decided).toMatchObject({ end: [], launch: 0 });
});

test("idle agents are terminated after the limit, except those on which a waiting run has room", () => {
  expect(decide(1, [], {}, idleFor(100, "a0")).end).toEqual([]);
  expect(decide(1, [], {}, idleFor(101, "a0"))).toMatchObject({
    end: [{ id: "a0", reason: "idle" }],
    launch: 0,
  });
  // A run of eight slots waits: agent a0 has four, so it needs a second agent.
  const gang = [[8]] as const;
  expect(decide(1, gang, {}, idleFor(101, "a0"))).toMatchObject({ end: [], launch: 1 });
  const compat = decide(1, gang, { compat: "determined" }, idleFor(101, "a0"));
  expect(compat).toMatchObject({ end: [{ id: "a0" }], launch: 2 });
});

test("agents that are still starting count toward the agents that waiting runs need", () => {
  const starting: Instance = { id: "s", launchedAtMs: 9_999, state: "running", agent: "absent" };
  for (const compat of ["", "determined"] as const) {
    expect(decide(0, [[4], [1]], { compat }, { instances: [starting] }).launch).toBe(1);
  }
});

test("waiting runs that would fit on a new agent get at least one, up to the maximum", () => {
  fc.assert(
    fc.property(
      fc.nat({ max: 3 }),
      fc.array(fc.tuple(fc.integer({ min: 1, max: 4 })), { maxLength: 12 }),
      fc.constantFrom("" as const, "determined" as const),
      (agents, runs, compat) => {
        const waits = runs.reduce((sum, [slots]) => sum + slots, 0) > agents * 4;
        const { launch, end } = decide(agents, runs, { compat });
        expect(end).toEqual([]);
        expect(launch).toBeLessThanOrEqual(5 - agents);
        if (waits) expect(launch).toBeGreaterThan(0);
      },
    ),
  );
});
