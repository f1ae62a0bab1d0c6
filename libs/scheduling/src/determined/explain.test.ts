import { expect, test } from "vitest";
import { explainOne, explainWaits } from "../explain.ts";
import { ToyCluster } from "../testing/toy-cluster.ts";

const compat = { compat: "determined" } as const;

const reasonsOf = ({ pool }: ToyCluster) =>
  explainWaits(pool, 10, 0).map(({ id, reason }) => [id, reason]);

test("each waiting run has its reason under Determined's rules, even if Trainyard's rules would start it", () => {
  const cluster = new ToyCluster(compat, { a: 4, b: 2 });
  cluster.queue("huge", 9, { priority: 1 });
  cluster.queue("behind", 1, { priority: 2 });
  cluster.queue("slotless", 0, { priority: 3 });
  expect(reasonsOf(cluster)).toEqual([
    ["huge", "not_enough_free"],
    ["behind", "behind_others"],
  ]);
  expect(explainOne(cluster.pool, "behind", 0)).toMatchObject({
    ahead: 1,
    blockers: [],
    startsWhen: "when the runs ahead have started, huge first",
  });
  expect(explainOne(cluster.pool, "slotless", 0)?.startsWhen).toBe("at the next placement");
  expect(explainOne(cluster.pool, "unknown", 0)).toBeNull();
});

test("a run that needs whole agents gets that reason, even when enough slots are free", () => {
  const cluster = new ToyCluster(compat, { a: 4, b: 2 });
  cluster.queue("six", 6);
  expect(explainOne(cluster.pool, "six", 0)?.detail).toBe(
    "the run needs 6 slots, of one agent or of whole agents of one size, and the 6 that are free are not",
  );
  cluster.queue("five on one", 5, { singleAgent: true });
  expect(explainOne(cluster.pool, "five on one", 0)?.detail).toContain("at most 4 are free on one");
});

test("a preempting run names its victims, also while they are stopping", () => {
  const cluster = new ToyCluster({ ...compat, preemption: true }, { a: 2 });
  cluster.queue("victim", 2, { priority: 90 });
  cluster.pass();
  cluster.queue("better", 1, { priority: 10 });
  cluster.pass();
  expect(explainOne(cluster.pool, "better", 0)).toMatchObject({
    reason: "preempting",
    detail: "victim stops to make room for the run",
    blockers: ["victim"],
  });
});

test("under fair share, a run waits for its experiment's share or limit, or for free slots", () => {
  const cluster = new ToyCluster({ ...compat, policy: "fair_share" }, { a: 4, b: 1 });
  cluster.queue("limited", 2, { job: "x", maxSlots: 1 });
  cluster.queue("large", 6, { job: "y" });
  expect(reasonsOf(cluster)).toEqual([
    ["limited", "max_slots"],
    ["large", "not_enough_free"],
  ]);
  const shared = new ToyCluster({ ...compat, policy: "fair_share" }, { a: 4 });
  shared.queue("x pair", 2, { job: "x" });
  shared.queue("y triple", 3, { job: "y", weight: 1 });
  shared.queue("z", 1, { job: "z" });
  expect(reasonsOf(shared)).toEqual([["y triple", "fair_share"]]);
});

test("a run in a pool without agents waits for agents", () => {
  const cluster = new ToyCluster(compat);
  cluster.queue("run", 1);
  expect(reasonsOf(cluster)).toEqual([["run", "no_agents"]]);
});
