import { describe, expect, test } from "vitest";
import { noConditions } from "./constraints.ts";
import { explainOne } from "./explain.ts";
import { schedulingLimits } from "./limits.ts";
import { exampleOffer } from "./testing/example-offer.ts";
import { ToyCluster } from "./testing/toy-cluster.ts";

const preempting = { preemption: true } as const;

describe("a pool that preempts", () => {
  test("stops the worst and newest runs, as few as suffice, and starts the better run after they have ended", () => {
    const toy = new ToyCluster(preempting, { a: 4 });
    toy.queue("old", 1, { priority: 60 });
    toy.pass();
    toy.nowMs = 1;
    toy.queue("new", 1, { priority: 60 });
    toy.queue("good", 2, { priority: 50 });
    toy.pass();
    toy.queue("best", 1, { priority: 1 });
    expect(toy.pass()).toMatchObject({ grants: [], stops: [{ id: "new", by: "best" }] });
    expect(toy.pass(), "no second set of victims").toMatchObject({ grants: [], stops: [] });
    toy.end("new");
    expect(toy.placed()).toEqual(["best"]);
  });

  test("does not start an aged run before a better run that would stop it", () => {
    const toy = new ToyCluster({ ...preempting, ageingMs: 10 }, { a: 1 });
    toy.queue("busy", 1, { priority: 1, preemptible: false });
    toy.pass();
    toy.queue("old", 1, { priority: 52 });
    toy.nowMs = 1_000;
    toy.queue("better", 1, { priority: 44 });
    toy.end("busy");
    expect(toy.placed()).toEqual(["better"]);
    expect(toy.pass()).toMatchObject({ grants: [], stops: [] });
  });

  test("stops only runs whose end helps the better run", () => {
    const toy = new ToyCluster(preempting, { a: 2, b: 2 });
    toy.queue("fixed", 1, { preemptible: false });
    toy.pass();
    for (const id of ["x", "y", "z"]) toy.queue(id, 1, { priority: 70 });
    toy.pass();
    toy.queue("pair", 2, { singleAgent: true });
    const { stops } = toy.pass();
    expect(stops.map(({ id }) => toy.running.get(id)?.[0]?.agent)).toEqual(["b", "b"]);
  });

  test("does not stop a newer run if an older run must be stopped anyway", () => {
    const toy = new ToyCluster(preempting, { a: 4 });
    toy.queue("old", 3, { priority: 60 });
    toy.queue("new", 1, { priority: 60 });
    toy.pass();
    toy.queue("better", 3);
    expect(toy.pass().stops).toEqual([{ id: "old", by: "better" }]);
  });

  test("stops no run of the same priority, no unpreemptible run, and no run in vain", () => {
    const toy = new ToyCluster(preempting, { a: 3 });
    toy.queue("same", 1);
    toy.queue("fixed", 1, { priority: 99, preemptible: false });
    toy.queue("worse", 1, { priority: 99 });
    toy.pass();
    toy.queue("two", 2);
    expect(toy.pass().stops).toEqual([]);
    toy.pool.queue.remove("two");
    toy.queue("one", 1);
    expect(toy.pass().stops).toEqual([{ id: "worse", by: "one" }]);
  });

  test("keeps the slots of stopped runs for the better run", () => {
    const toy = new ToyCluster(preempting, { a: 4 });
    for (const id of ["v", "w"]) toy.queue(id, 2, { priority: 90 });
    toy.pass();
    toy.queue("large", 4);
    expect(toy.pass().stops).toHaveLength(2);
    toy.end("v");
    toy.queue("small", 1, { priority: 42 });
    toy.queue("tiny", 1, { priority: 95 });
    expect(toy.placed()).toEqual([]);
    expect(explainOne(toy.pool, "large", 0)).toMatchObject({
      reason: "preempting",
      ahead: 0,
      blockers: ["w"],
      startsWhen: "when w has ended",
    });
    toy.end("w");
    expect(toy.placed()).toEqual(["large"]);
  });

  test("chooses different victims for several runs in one pass", () => {
    const toy = new ToyCluster(preempting, { a: 2, b: 2 });
    for (const id of ["v", "w", "x", "y"]) toy.queue(id, 1, { priority: 90 });
    toy.pass();
    toy.queue("one", 2);
    toy.queue("two", 2, { job: "other", priority: 43 });
    const { stops } = toy.pass();
    expect(new Set(stops.map(({ id }) => id)).size).toBe(4);
    expect(stops.map(({ by }) => by).sort()).toEqual(["one", "one", "two", "two"]);
  });
});

describe("runs that make room", () => {
  const exempting = { preemption: true, preemptExemptMs: 60_000 } as const;

  test("take turns: the run of the trial that was preempted least often, then the newest", () => {
    const toy = new ToyCluster(preempting, { a: 3 });
    toy.queue("old", 1, { priority: 60 });
    toy.queue("often", 1, { priority: 60, preemptions: 2 });
    toy.queue("once", 1, { priority: 60, preemptions: 1 });
    toy.pass();
    const stopped = ["a", "b", "c"].map((id) => {
      toy.queue(id, 1);
      const [stop] = toy.pass().stops;
      toy.end(...toy.stopping);
      toy.pass();
      return stop?.id;
    });
    expect(stopped).toEqual(["old", "once", "often"]);
  });

  test("are exempt for a while after their start, and the pass and the explanation say for how long", () => {
    const toy = new ToyCluster(exempting, { a: 2 });
    for (const id of ["x", "y"]) toy.queue(id, 1, { priority: 60 });
    toy.pass();
    toy.nowMs = 20_000;
    toy.queue("better", 2);
    expect(toy.pass()).toMatchObject({ grants: [], stops: [], againAtMs: 60_000 });
    const wait = explainOne(toy.pool, "better", toy.nowMs);
    expect(wait).toMatchObject({
      reason: "not_enough_free",
      blockers: ["y", "x"],
      startsWhen: "when y, x have ended, which can be preempted in 40 s",
    });
    expect(wait?.detail).toContain("y, x can make room in 40 s");
    toy.nowMs = 60_000;
    expect(toy.pass()).toMatchObject({ stops: [{ id: "y" }, { id: "x" }], againAtMs: null });
  });

  test("are no longer exempt after a new checkpoint, and only then are they preferred to newer ones", () => {
    const toy = new ToyCluster(exempting, { a: 2 });
    for (const id of ["saved", "new"]) toy.queue(id, 1, { priority: 60 });
    toy.pass();
    toy.pool.placed.change("saved", () => ({ checkpointed: true }));
    toy.queue("better", 1);
    expect(toy.pass()).toMatchObject({ stops: [{ id: "saved", by: "better" }], againAtMs: null });
  });

  test("are not exempt before their processes have started, however long that takes", () => {
    const toy = new ToyCluster(exempting, { a: 2 });
    for (const id of ["preparing", "new"]) toy.queue(id, 1, { priority: 60 });
    toy.pass();
    toy.pool.placed.change("preparing", () => ({ startedAtMs: null }));
    toy.queue("better", 1);
    expect(toy.pass()).toMatchObject({ stops: [{ id: "preparing" }], againAtMs: null });
  });

  test("on slots reserved for the head are never exempt from it", () => {
    const toy = new ToyCluster(exempting, { a: 2 });
    toy.queue("blocker", 1, { preemptible: false });
    toy.pass();
    toy.queue("large", 2);
    toy.pass();
    toy.queue("guest", 1);
    toy.pass();
    toy.end("blocker");
    expect(toy.pass()).toMatchObject({ stops: [{ id: "guest", by: "large" }] });
  });

  test("with a loan of a quota or above a fair share are exempt, too", () => {
    const quotas = [{ workspace: "w", slots: 1, borrow: true }];
    const lent = new ToyCluster({ quotas, preemptExemptMs: 60_000 }, { a: 2 });
    for (const id of ["one", "two"]) lent.queue(id, 1, { workspace: "w" });
    lent.pass();
    lent.queue("owner", 1, { workspace: "v" });
    expect(lent.pass()).toMatchObject({ stops: [], againAtMs: 60_000 });
    const shared = new ToyCluster({ ...exempting, policy: "fair_share" }, { a: 2 });
    for (const id of ["one", "two"]) shared.queue(id, 1, { job: "early" });
    shared.pass();
    shared.queue("late", 1);
    expect(shared.pass()).toMatchObject({ stops: [], againAtMs: 60_000 });
    shared.nowMs = 60_000;
    expect(shared.pass()).toMatchObject({ stops: [{ id: "two", by: "late" }] });
  });
});

describe("the head of the queue", () => {
  test("gets the slots that become free, however many small runs are behind it", () => {
    const toy = new ToyCluster({}, { a: 4, b: 4 });
    for (let n = 0; n < 8; n += 1) toy.queue(`small-${n}`, 1);
    toy.pass();
    toy.queue("large", 4, { singleAgent: true });
    for (let n = 8; n < 40; n += 1) toy.queue(`small-${n}`, 1);
    const { reservation } = toy.pass();
    expect(reservation).toMatchObject({ id: "large", slots: 4 });
    const kept = reservation?.agents[0] ?? "";
    let ends = 0;
    while (!toy.running.has("large")) {
      const [first] = [...toy.running].filter(([id]) => id !== "large").map(([id]) => id);
      ends += 1;
      toy.end(first ?? "");
      toy.pass();
    }
    expect(toy.running.get("large")).toMatchObject([{ agent: kept }]);
    expect(ends).toBeLessThanOrEqual(8);
  });

  test("gets other slots when its reserved slots no longer meet its constraints", () => {
    const toy = new ToyCluster();
    const joins = (id: string, labels: Readonly<Record<string, string>>): void =>
      toy.pool.agents.join(id, { ...exampleOffer(2), labels }, true);
    for (const id of ["a", "b"]) joins(id, { rack: "r1" });
    for (const id of ["x", "y"]) toy.queue(id, 2);
    toy.pass();
    const required = [{ label: "rack", values: ["r1"] }];
    toy.queue("large", 2, { constraints: { ...noConditions, excludedAgents: [], required } });
    const kept = toy.pass().reservation?.agents[0] ?? "";
    const other = kept === "a" ? "b" : "a";
    joins(kept, { rack: "r2" });
    expect(toy.pass().reservation).toMatchObject({ id: "large", agents: [other] });
  });

  test("lets a run use its reserved slots if the run's time limit ends in time", () => {
    const toy = new ToyCluster({}, { a: 2 });
    const timeout = { preemptionTimeoutMs: 30_000 };
    toy.queue("limited", 1, { timeLimitMs: 600_000, ...timeout });
    toy.pass();
    toy.queue("large", 2);
    const left = 600_000 - schedulingLimits.launchAllowanceMs - 30_000;
    toy.queue("late", 1, { timeLimitMs: left + 1, ...timeout });
    toy.queue("short", 1, { timeLimitMs: left, ...timeout });
    expect(toy.placed()).toEqual(["short"]);
    expect(explainOne(toy.pool, "large", 40_000)).toMatchObject({
      reason: "not_enough_free",
      blockers: ["limited", "short"],
      startsWhen:
        "when limited, short have ended, in 590 s by their time limits and preemption timeouts",
    });
    expect(explainOne(toy.pool, "late", 0)).toMatchObject({
      reason: "behind_others",
      ahead: 1,
      blockers: [],
      startsWhen: "when the runs ahead have started, large first",
    });
  });

  test("lets preemptible runs use its reserved slots in a pool that preempts, and stops them once it can start", () => {
    const toy = new ToyCluster(preempting, { a: 2 });
    toy.queue("blocker", 1, { preemptible: false });
    toy.pass();
    toy.queue("large", 2);
    toy.pass();
    toy.queue("fixed", 1, { preemptible: false });
    toy.queue("guest", 1);
    expect(toy.pass()).toMatchObject({ grants: [{ id: "guest" }], stops: [] });
    expect(toy.pass()).toMatchObject({ grants: [], stops: [] });
    toy.end("blocker");
    expect(toy.pass()).toMatchObject({ grants: [], stops: [{ id: "guest", by: "large" }] });
    toy.end("guest");
    expect(toy.placed()).toEqual(["large"]);
  });

  test("is passed by every run that fits with backfill any, and by none with backfill none", () => {
    for (const [backfill, want] of [
      ["any", ["small"]],
      ["none", []],
    ] as const) {
      const toy = new ToyCluster({ backfill }, { a: 2, b: 1 });
      toy.queue("first", 1, { job: "x" });
      toy.queue("x", 1);
      toy.pass();
      toy.queue("large", 2, { singleAgent: true });
      toy.queue("small", 1);
      expect(toy.placed(), backfill).toEqual(want);
    }
  });

  test("does not hold up other runs if no agent could hold it", () => {
    const toy = new ToyCluster({ backfill: "none" }, { a: 2 });
    toy.queue("huge", 3);
    toy.queue("small", 1);
    expect(toy.placed()).toEqual(["small"]);
  });
});
