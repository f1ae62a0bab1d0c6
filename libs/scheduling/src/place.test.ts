import { describe, expect, test } from "vitest";
import type { Demand } from "./demand.ts";
import { schedulingLimits } from "./limits.ts";
import { place } from "./place.ts";
import { Pool } from "./pool.ts";
import { defaultSettings } from "./settings.ts";
import { exampleDemand } from "./testing/example-demand.ts";
import { exampleOffer } from "./testing/example-offer.ts";
import { ToyCluster } from "./testing/toy-cluster.ts";

let arrivals = 0;
function demand(id: string, slots: number, rest: Partial<Demand> = {}): Demand {
  arrivals += 1;
  return { ...exampleDemand, id, slots, arrival: arrivals, ...rest };
}

function poolOf(sizes: Readonly<Record<string, number>>): Pool {
  const pool = new Pool();
  for (const [id, size] of Object.entries(sizes)) {
    pool.agents.join(id, exampleOffer(size), true);
  }
  return pool;
}

/** Returns the grants of a pass by run, as text like "a:2+b:1". */
function placed(pool: Pool): Record<string, string> {
  const entries = place(pool, { nowMs: 0 }).grants.map(({ id, shares }) => [
    id,
    shares.map(({ agent, slots }) => `${agent}:${slots.length}`).join("+"),
  ]);
  return Object.fromEntries(entries);
}

describe("a waiting run is placed on", () => {
  const cases: readonly {
    readonly name: string;
    readonly agents: Readonly<Record<string, number>>;
    readonly held?: readonly (readonly [agent: string, slots: readonly string[]])[];
    readonly slots: number;
    readonly singleAgent?: boolean;
    readonly want: string | undefined;
  }[] = [
    {
      name: "the agent with the fewest free slots that suffice",
      agents: { a: 8, b: 4 },
      slots: 3,
      want: "b:3",
    },
    {
      name: "the agent that joined first among equal agents",
      agents: { b: 2, a: 2 },
      slots: 1,
      want: "b:1",
    },
    {
      name: "a partly used agent rather than an unused one",
      agents: { a: 4, b: 4 },
      held: [["b", ["0"]]],
      slots: 2,
      want: "b:2",
    },
    {
      name: "whole agents in equal shares",
      agents: { a: 2, b: 4, c: 4 },
      slots: 8,
      want: "b:4+c:4",
    },
    {
      name: "whole agents of the largest size that divides its slots",
      agents: { a: 3, b: 2, c: 2 },
      slots: 4,
      want: "b:2+c:2",
    },
    {
      name: "agents in unequal shares if no equal shares exist",
      agents: { a: 8, b: 6, c: 4 },
      slots: 12,
      want: "a:8+c:4",
    },
    {
      name: "the free slots in unequal shares",
      agents: { a: 2, b: 2 },
      held: [["a", ["0"]]],
      slots: 3,
      want: "b:2+a:1",
    },
    {
      name: "no agent when too few slots are free",
      agents: { a: 2, b: 2 },
      slots: 5,
      want: undefined,
    },
    {
      name: "no agent when it must be on one agent and none is large enough",
      agents: { a: 2, b: 2 },
      slots: 3,
      singleAgent: true,
      want: undefined,
    },
    { name: "any agent when it needs no slots", agents: { a: 1 }, slots: 0, want: "a:0" },
    {
      name: "an agent without free slots when it needs no slots",
      agents: { a: 1 },
      held: [["a", ["0"]]],
      slots: 0,
      want: "a:0",
    },
    {
      name: "no agent when the pool has none, even without slots",
      agents: {},
      slots: 0,
      want: undefined,
    },
  ];
  test.each(cases)("$name", ({ agents, held, slots, singleAgent, want }) => {
    const pool = poolOf(agents);
    for (const [index, [agent, taken]] of (held ?? []).entries()) {
      pool.agents.hold(agent, `held-${index}`, taken);
    }
    pool.queue.add(demand("run", slots, { singleAgent: singleAgent ?? false }));
    expect(placed(pool)["run"]).toBe(want);
  });

  test("alternating agents when it needs no slots, up to each agent's limit of such runs", () => {
    const pool = poolOf({ a: 1, b: 1 });
    const fills = schedulingLimits.slotlessPerAgentMax * 2;
    for (let n = 0; n < fills + 1; n += 1) pool.queue.add(demand(`run-${n}`, 0));
    const { grants } = place(pool, { nowMs: 0, grantsMax: fills + 10 });
    expect(grants).toHaveLength(fills);
    expect(grants.slice(0, 4).map((grant) => grant.shares[0]?.agent)).toEqual(["a", "b", "a", "b"]);
  });

  test("no slot that is disabled or belongs to an absent or draining agent", () => {
    const pool = poolOf({ a: 2, b: 2 });
    pool.agents.join("a", exampleOffer(2), false);
    pool.agents.setSlotDisabled("b", "0", true);
    pool.queue.add(demand("one", 1));
    pool.queue.add(demand("two", 1));
    expect(place(pool, { nowMs: 0 }).grants).toEqual([
      { id: "one", shares: [{ agent: "b", slots: ["1"] }], borrowed: 0 },
    ]);
    pool.agents.join("a", exampleOffer(2), true);
    expect(placed(pool)).toEqual({ one: "b:1", two: "a:1" });
  });

  test("a slot with two holders only after both have released it", () => {
    const pool = poolOf({ a: 1 });
    pool.agents.hold("a", "granted", ["0"]);
    pool.agents.hold("a", "ghost", ["0"]);
    pool.queue.add(demand("next", 1));
    pool.agents.release("a", "granted");
    expect(placed(pool)).toEqual({});
    pool.agents.release("a", "ghost");
    expect(placed(pool)).toEqual({ next: "a:1" });
  });
});

describe("the order of placement", () => {
  test("runs with a lower priority number are placed first, then runs that arrived earlier", () => {
    const pool = poolOf({ a: 2 });
    pool.queue.add(demand("late", 1, { priority: 50 }));
    pool.queue.add(demand("second", 1));
    pool.queue.add(demand("third", 1));
    pool.queue.add(demand("first", 1, { priority: 1 }));
    expect(Object.keys(placed(pool))).toEqual(["first", "second"]);
  });

  test("a smaller later run does not take the slots that the first run waits for", () => {
    const pool = poolOf({ a: 2 });
    pool.agents.hold("a", "other", ["0"]);
    pool.start(demand("other", 1), { turn: 1, atMs: 0, startedAtMs: 0 });
    pool.queue.add(demand("large", 2, { priority: 10 }));
    for (const priority of [10, 20]) pool.queue.add(demand(`small-${priority}`, 1, { priority }));
    expect(placed(pool)).toEqual({});
    pool.queue.remove("large");
    expect(placed(pool)).toEqual({ "small-10": "a:1" });
  });

  test("a smaller later run passes a run for which no slots can be reserved", () => {
    const pool = poolOf({ a: 2 });
    pool.agents.hold("a", "one that a lost agent brought back", ["0"]);
    pool.queue.add(demand("large", 2, { priority: 10 }));
    pool.queue.add(demand("small", 1, { priority: 20 }));
    expect(placed(pool)).toEqual({ small: "a:1" });
  });

  test("runs with and without slots do not wait for each other", () => {
    const pool = poolOf({ a: 1 });
    pool.agents.hold("a", "other", ["0"]);
    pool.queue.add(demand("slotted", 1, { priority: 1 }));
    pool.queue.add(demand("slotless", 0, { priority: 99 }));
    expect(placed(pool)).toEqual({ slotless: "a:0" });
  });

  test("runs of different shapes are placed in the order of their arrival", () => {
    const pool = poolOf({ a: 4 });
    pool.queue.add(demand("one", 1));
    pool.queue.add(demand("two", 2));
    pool.queue.add(demand("three", 1));
    pool.queue.add(demand("four", 2));
    expect(Object.keys(placed(pool))).toEqual(["one", "two", "three"]);
  });

  test("runs that are queued out of order are placed in the order of their arrival", () => {
    const pool = poolOf({ a: 1 });
    pool.queue.add(demand("later", 1, { arrival: 20 }));
    pool.queue.add(demand("earlier", 1, { arrival: 10 }));
    expect(Object.keys(placed(pool))).toEqual(["earlier"]);
  });

  test("a pass grants no more runs than its limit", () => {
    const pool = poolOf({ a: 4 });
    for (const id of ["one", "two", "three"]) pool.queue.add(demand(id, 1));
    expect(place(pool, { nowMs: 0, grantsMax: 2 }).grants.map(({ id }) => id)).toEqual([
      "one",
      "two",
    ]);
  });
});

describe("a run that failed on an agent", () => {
  const avoiding = (slots: number, ...avoid: readonly string[]): Demand =>
    demand("r", slots, { avoid });

  function placedIn(pool: Pool, run: Demand): string | undefined {
    pool.queue.add(run);
    return placed(pool)[run.id];
  }

  test("is placed on another agent, even if that agent fits worse", () => {
    expect(placedIn(poolOf({ a: 1, b: 8 }), avoiding(1, "a"))).toBe("b:1");
    expect(placedIn(poolOf({ a: 4, b: 2, c: 2 }), avoiding(4, "a"))).toBe("b:2+c:2");
    expect(placedIn(poolOf({ a: 1, b: 1 }), avoiding(0, "a"))).toBe("b:0");
  });

  test("waits for another agent that could hold it, and a later run gets the free slot", () => {
    const pool = poolOf({ a: 1, b: 1 });
    pool.agents.hold("b", "x", ["0"]);
    pool.queue.add(avoiding(1, "a"));
    pool.queue.add(demand("s", 1));
    expect(placed(pool)).toEqual({ s: "a:1" });
  });

  test("returns to the agent if no other agent could hold it", () => {
    expect(placedIn(poolOf({ a: 1 }), avoiding(1, "a"))).toBe("a:1");
    expect(placedIn(poolOf({ a: 2, b: 1 }), avoiding(2, "a"))).toBe("a:2");
    expect(placedIn(poolOf({ a: 2, b: 2 }), avoiding(2, "a", "b"))).toBe("a:2");
    const lost = poolOf({ a: 1, b: 1 });
    lost.agents.join("b", exampleOffer(1), false);
    expect(placedIn(lost, avoiding(1, "a"))).toBe("a:1");
  });

  test("returns to the agent if the others have too many disabled slots", () => {
    const pool = poolOf({ a: 2, b: 2 });
    pool.agents.setSlotDisabled("b", "0", true);
    expect(placedIn(pool, avoiding(2, "a"))).toBe("a:2");
    const determined = poolOf({ a: 2, b: 2 });
    determined.configure({ ...defaultSettings, compat: "determined" });
    determined.agents.setSlotDisabled("b", "0", true);
    expect(placedIn(determined, avoiding(2, "a"))).toBe("a:2");
  });

  test.each(["", "determined"] as const)(
    "is placed anywhere once it has waited for two minutes (compat %j)",
    (compat) => {
      const toy = new ToyCluster({ compat }, { a: 1, b: 1 });
      toy.queue("x", 1, { preemptible: false });
      toy.pass();
      const [free, held] = toy.running.get("x")?.[0]?.agent === "a" ? ["b", "a"] : ["a", "b"];
      const avoidUntilMs = schedulingLimits.avoidMs;
      const avoiding = { avoid: [free], avoidUntilMs };
      for (const run of ["r", "s"]) toy.queue(run, 1, avoiding);
      expect([toy.pass().againAtMs, toy.placed()]).toEqual([avoidUntilMs, []]);
      toy.nowMs = avoidUntilMs - 1;
      toy.pool.queue.reshape();
      expect(toy.placed()).toEqual([]);
      toy.nowMs = avoidUntilMs;
      expect(toy.placed()).toEqual(["r"]);
      expect(toy.running.get("r")?.[0]?.agent).toBe(free);
      toy.end("x");
      expect(toy.pass()).toMatchObject({ grants: [{ id: "s" }], againAtMs: null });
      expect(toy.running.get("s")?.[0]?.agent).toBe(held);
    },
  );

  test("does not hold up runs of the same shape that may run on any agent", () => {
    const pool = poolOf({ a: 2, b: 1 });
    pool.agents.hold("b", "x", ["0"]);
    pool.queue.add(avoiding(1, "a"));
    for (const id of ["s", "t"]) pool.queue.add(demand(id, 1));
    expect(placed(pool)).toEqual({ s: "a:1", t: "a:1" });
  });
});

describe("an agent that is blocked", () => {
  test("gets no run until the block is lifted, and keeps its runs", () => {
    const pool = poolOf({ a: 2, b: 1 });
    pool.agents.hold("a", "x", ["0"]);
    pool.agents.setBlock("a", { kind: "low_disk", detail: "" });
    for (const id of ["s", "t"]) pool.queue.add(demand(id, 1));
    expect(placed(pool)).toEqual({ s: "b:1" });
    pool.agents.setBlock("a", null);
    expect(placed(pool)).toEqual({ s: "a:1", t: "b:1" });
    expect(pool.agents.freeOf("a", 2)).toEqual(["1"]);
  });
});
