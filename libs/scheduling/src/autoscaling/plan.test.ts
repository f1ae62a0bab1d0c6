import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Constraints } from "../constraints.ts";
import type { Demand } from "../demand.ts";
import { fit } from "../fit.ts";
import { Pool } from "../pool.ts";
import { defaultSettings, type PoolSettings } from "../settings.ts";
import { exampleDemand } from "../testing/example-demand.ts";
import { exampleOffer } from "../testing/example-offer.ts";
import { type PlanInput, planAgents } from "./plan.ts";

/** A pool of agents by their free slots; each agent has one more slot, which is taken. */
function poolOf(
  free: Readonly<Record<string, number>>,
  settings: Partial<PoolSettings> = {},
): Pool {
  const pool = new Pool({ ...defaultSettings, ...settings });
  for (const [id, size] of Object.entries(free)) {
    pool.agents.join(id, exampleOffer(size + 1), true);
    pool.agents.hold(id, "running", ["0"]);
  }
  return pool;
}

const run = (slots: number, rest: Partial<Demand> = {}): Demand => ({
  ...exampleDemand,
  slots,
  ...rest,
});

function plan(
  free: Readonly<Record<string, number>>,
  waiting: readonly Demand[],
  rest: Partial<PlanInput> = {},
) {
  const { pool = poolOf(free) } = rest;
  for (const [at, demand] of waiting.entries()) {
    pool.queue.add({ ...demand, id: `r${at}`, arrival: at });
  }
  return planAgents({ pool, starting: 0, newAgentsMax: 10, newAgent: exampleOffer(4), ...rest });
}

describe("new agents", () => {
  test("are not started for a run that fits on the free slots", () => {
    expect(plan({ a: 4 }, [run(4)])).toEqual({ newAgents: 0, inUse: new Set(["a"]) });
    expect(plan({ a: 2, b: 2 }, [run(4)])).toEqual({ newAgents: 0, inUse: new Set(["a", "b"]) });
  });

  test("are started when the free slots are too scattered for a run", () => {
    expect(plan({ a: 2, b: 2 }, [run(4, { singleAgent: true })]).newAgents).toBe(1);
  });

  test("share their slots among the runs that wait", () => {
    expect(plan({}, [run(1), run(3), run(2)]).newAgents).toBe(2);
  });

  test("are as few as a run on several agents needs beside the free slots", () => {
    expect(plan({}, [run(12)]).newAgents).toBe(3);
    expect(plan({ a: 4 }, [run(12)]).newAgents).toBe(2);
  });

  test("are started for runs without slots when every agent has its maximum of such runs", () => {
    const pool = poolOf({ a: 1 }, { slotlessPerAgent: 1 });
    expect(plan({}, [run(0), run(0)], { pool }).newAgents).toBe(1);
  });

  test("exclude agents that are starting, and do not exceed the number that may be started", () => {
    expect(plan({}, [run(4), run(4)], { starting: 1 }).newAgents).toBe(1);
    expect(plan({}, [run(4), run(4), run(4)], { newAgentsMax: 2 }).newAgents).toBe(2);
    expect(plan({}, [run(4)], { newAgentsMax: 0 }).newAgents).toBe(0);
  });

  test("are not started for a run that is too large for them, but for smaller runs behind it", () => {
    expect(plan({}, [run(5, { singleAgent: true })]).newAgents).toBe(0);
    expect(plan({}, [run(99), run(1)]).newAgents).toBe(1);
  });

  test("are not started for a run whose constraints they do not meet", () => {
    const constraints: Constraints = {
      device: "cuda",
      deviceMemoryBytes: 0,
      required: [],
      preferred: [],
      forbidden: [],
      excludedAgents: [],
      sameLabel: "",
    };
    expect(plan({}, [run(1, { constraints })]).newAgents).toBe(0);
  });

  test("are not started for runs that wait for their job's limit or their workspace's quota", () => {
    const limited = run(4, { maxSlots: 6 });
    expect(plan({}, [limited, limited]).newAgents).toBe(1);
    const pool = poolOf({});
    pool.start({ ...limited, id: "placed", slots: 3 }, { turn: 1, atMs: 0, startedAtMs: 0 });
    expect(plan({}, [limited], { pool }).newAgents).toBe(0);
    const quotas = [{ workspace: "w", slots: 3, borrow: false }];
    const inWorkspace = run(2, { workspace: "w" });
    const limitedPool = poolOf({}, { quotas });
    expect(plan({}, [inWorkspace, run(4, { workspace: "w" })], { pool: limitedPool })).toEqual({
      newAgents: 1,
      inUse: new Set(),
    });
  });

  test("go to the better priority first when only some may be started", () => {
    const waiting = [run(4, { priority: 9 }), run(2, { priority: 1 })];
    expect(plan({ a: 4 }, waiting, { newAgentsMax: 0 }).inUse).toEqual(new Set(["a"]));
    expect(plan({ a: 4 }, waiting, { newAgentsMax: 1 }).newAgents).toBe(1);
  });
});

test("planning leaves the pool's agents unchanged", () => {
  const pool = poolOf({ a: 2 });
  const before = [pool.agents.known, pool.agents.present, pool.agents.freeSlots];
  plan({}, [run(1), run(9)], { pool, starting: 2 });
  expect([pool.agents.known, pool.agents.present, pool.agents.freeSlots]).toEqual(before);
  expect([...pool.agents.offers()].map(({ id }) => id)).toEqual(["a"]);
});

test("the planned new agents give room to each waiting run that fits on a new agent", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: 4 }), { maxLength: 4 }),
      fc.array(fc.record({ slots: fc.nat({ max: 9 }), singleAgent: fc.boolean() }), {
        maxLength: 8,
      }),
      (free, asked) => {
        const agents = Object.fromEntries(free.map((slots, at) => [`a${at}`, slots]));
        const waiting = asked.map((one) => run(one.slots, one));
        const { newAgents } = plan(agents, waiting, { newAgentsMax: 100 });
        const after = poolOf(agents).agents;
        for (let n = 0; n < newAgents; n += 1) after.join(`new${n}`, exampleOffer(4), true);
        for (const [at, demand] of waiting.entries()) {
          const shares = fit(after, demand);
          if (!demand.singleAgent || demand.slots <= 4) expect(shares).not.toBeNull();
          for (const { agent, slots } of shares ?? []) after.hold(agent, `r${at}`, slots);
        }
        const there = poolOf(agents).agents;
        const allFit = waiting.every((demand, at) => {
          const shares = fit(there, demand);
          for (const { agent, slots } of shares ?? []) there.hold(agent, `r${at}`, slots);
          return shares !== null;
        });
        if (allFit) expect(newAgents).toBe(0);
      },
    ),
  );
});
