import { expect, test } from "vitest";
import { type Constraints, noConditions } from "./constraints.ts";
import type { Demand } from "./demand.ts";
import { explainOne, explainWaits } from "./explain.ts";
import { Pool } from "./pool.ts";
import { exampleDemand } from "./testing/example-demand.ts";
import { exampleOffer } from "./testing/example-offer.ts";
import { ToyCluster } from "./testing/toy-cluster.ts";

function demand(id: string, slots: number, rest: Partial<Demand> = {}): Demand {
  return { ...exampleDemand, id, slots, ...rest };
}

function waitingIn(pool: Pool, ...demands: readonly Demand[]): string[] {
  for (const [index, one] of demands.entries()) pool.queue.add({ ...one, arrival: index + 1 });
  return explainWaits(pool, 100, 0).map(({ id, reason, detail }) => `${id}: ${reason}: ${detail}`);
}

test("a run in a pool without agents waits for the first agent to join", () => {
  expect(waitingIn(new Pool(), demand("a", 1))).toEqual([
    "a: no_agents: no agent has joined the pool yet",
  ]);
});

test("a run waits for unavailable agents when the present ones have too few slots", () => {
  const pool = new Pool();
  pool.agents.join("one", exampleOffer(2), false);
  pool.agents.join("two", exampleOffer(1), true);
  expect(waitingIn(pool, demand("a", 2))).toEqual([
    "a: agents_away: 1 of the pool's 2 agents is unavailable, with 2 of its 3 slots",
  ]);
});

test("waiting runs lack free slots, are behind others, or see the free slots reserved", () => {
  const pool = new Pool();
  pool.agents.join("one", exampleOffer(2), true);
  pool.agents.hold("one", "x", ["0"]);
  pool.start(demand("x", 1), { turn: 1, atMs: 0, startedAtMs: 0 });
  expect(waitingIn(pool, demand("a", 2), demand("b", 2), demand("c", 1, { priority: 50 }))).toEqual(
    [
      "a: not_enough_free: the run needs 2 slots and 1 of 2 is free",
      "b: behind_others: the runs ahead in the queue have not started yet",
      "c: reserved: the free slots are reserved for a, which is ahead in the queue",
    ],
  );
});

test("a run of one slot starts when one slot is free, and a larger one when its slots are", () => {
  const pool = new Pool();
  pool.agents.join("one", exampleOffer(2), true);
  pool.agents.hold("one", "x", ["0", "1"]);
  waitingIn(pool, demand("a", 1));
  expect(explainOne(pool, "a", 0)?.startsWhen).toBe("when 1 slot is free");
  const larger = new Pool();
  larger.agents.join("one", exampleOffer(2), true);
  larger.agents.hold("one", "x", ["0"]);
  waitingIn(larger, demand("b", 2));
  expect(explainOne(larger, "b", 0)?.startsWhen).toBe("when 2 slots are free");
});

test("a run that must be on one agent waits although enough slots are free on several agents", () => {
  const pool = new Pool();
  pool.agents.join("one", exampleOffer(1), true);
  pool.agents.join("two", exampleOffer(1), true);
  expect(waitingIn(pool, demand("a", 2, { singleAgent: true }))).toEqual([
    "a: not_enough_free: the run needs 2 slots and at most 1 is free on one agent",
  ]);
});

test("waiting runs are explained in queue order, up to the limit", () => {
  const pool = new Pool();
  for (let n = 0; n < 5; n += 1) pool.queue.add(demand(`d${n}`, 1, { arrival: n }));
  expect(explainWaits(pool, 2, 0).map((wait) => wait.id)).toEqual(["d0", "d1"]);
});

const full = {
  kind: "low_disk",
  detail: "one has 5 MB of disk left, and a run needs 256 MB",
} as const;
const broken = { kind: "distrusted", detail: "launches failed on two" } as const;

test("blocked agents are the reason when the unblocked agents could not hold the run", () => {
  const pool = new Pool();
  pool.agents.join("one", exampleOffer(2), true);
  pool.agents.setBlock("one", full);
  expect(waitingIn(pool, demand("a", 1))).toEqual([`a: low_disk: ${full.detail}`]);
  pool.agents.join("two", exampleOffer(1), true);
  pool.agents.setBlock("two", broken);
  pool.agents.join("three", exampleOffer(1), true);
  pool.agents.hold("three", "x", ["0"]);
  expect(waitingIn(pool, demand("b", 2))).toEqual([
    `a: not_enough_free: the run needs 1 slot and 0 of 1 are free; ${full.detail}; ${broken.detail}`,
    `b: low_disk: ${full.detail}; ${broken.detail}`,
  ]);
});

test("the explanation names the agents that the run avoids, and does not count their slots as free", () => {
  const pool = new Pool();
  pool.agents.join("one", exampleOffer(2), true);
  pool.agents.join("two", exampleOffer(1), true);
  pool.agents.hold("two", "x", ["0"]);
  expect(waitingIn(pool, demand("a", 1, { avoid: ["one"] }))).toEqual([
    "a: not_enough_free: the run needs 1 slot and 0 of 1 are free; the last tries failed on one, where the run is not tried again for 2 minutes while another agent could hold it",
  ]);
});

test("a run names the agents that it is not placed on, also when the others are away", () => {
  const pool = new Pool();
  pool.agents.join("one", exampleOffer(1), true);
  pool.agents.join("two", exampleOffer(1), true);
  pool.agents.hold("two", "x", ["0"]);
  const constraints = { ...noConditions, excludedAgents: ["one"] };
  expect(waitingIn(pool, demand("a", 1, { constraints }))).toEqual([
    "a: not_enough_free: the run needs 1 slot and 0 of 1 are free; it is not placed on one, which its configuration, a log policy or an earlier launch excludes",
  ]);
  pool.agents.join("two", exampleOffer(1), false);
  expect(explainWaits(pool, 100, 0)[0]).toMatchObject({
    reason: "constraints",
    detail:
      "the agents that satisfy the constraints are away, disabled or draining; it is not placed on one, which its configuration, a log policy or an earlier launch excludes",
  });
});

test.each<[string, Partial<Demand>, Partial<Constraints>, string]>([
  [
    "its devices",
    { slots: 2 },
    { device: "cuda", deviceMemoryBytes: 80e9 },
    "the run needs 2 cuda slots with 80 GB and 1 of 2 is free",
  ],
  [
    "labels",
    { slots: 3 },
    { required: [{ label: "zone", values: ["a"] }] },
    "the run needs 3 slots on agents with zone a, and 2 of 3 are free",
  ],
  [
    "one agent",
    { slots: 3, singleAgent: true },
    { excludedAgents: ["three"] },
    "the run needs 3 slots and at most 2 are free on one agent; it is not placed on three, which its configuration, a log policy or an earlier launch excludes",
  ],
  [
    "agents with the same label",
    { slots: 5 },
    { sameLabel: "zone" },
    "the run needs 5 slots on agents with the same zone, and at most 3 are free there",
  ],
])(
  "free slots count only if the constraints of the run allow them: %s",
  (_name, rest, asked, detail) => {
    const pool = new Pool();
    const slot = (id: string) => ({ id, device: "cuda", memoryBytes: 80e9 });
    const small = [...exampleOffer(3).slots, slot("3"), slot("4")];
    pool.agents.join("one", { slots: small.slice(0, 3), labels: { zone: "a" } }, true);
    pool.agents.join("two", { slots: small.slice(3), labels: { zone: "b" } }, true);
    pool.agents.join("three", { ...exampleOffer(3), labels: { zone: "b" } }, true);
    pool.agents.hold("one", "x", ["0"]);
    pool.agents.hold("two", "y", ["3"]);
    pool.agents.hold("three", "z", ["0"]);
    const nothing = { required: [], preferred: [], forbidden: [], excludedAgents: [] };
    const constraints = { device: "", deviceMemoryBytes: 0, sameLabel: "", ...nothing, ...asked };
    expect(waitingIn(pool, demand("a", 1, { ...rest, constraints }))).toEqual([
      `a: not_enough_free: ${detail}`,
    ]);
  },
);

/** A pool of eight slots under `priority`, full with runs of an experiment whose other runs wait before a gang. */
function sweepBeforeGang(rest: Partial<Demand> = {}): ToyCluster {
  const toy = new ToyCluster({}, { a: 4, b: 4 });
  for (let n = 1; n <= 40; n += 1) toy.queue(`10.${n}#1`, 1, { job: "10" });
  toy.queue("11.1#1", 8, { job: "11", ...rest });
  toy.pass();
  return toy;
}

test("a gang behind the small runs of an older experiment starts after them, not when those on its slots have ended", () => {
  const toy = sweepBeforeGang();
  expect(explainOne(toy.pool, "11.1#1", 0)).toMatchObject({
    reason: "behind_others",
    detail:
      "the runs ahead in the queue have not started yet: under the policy priority, all trials of an older experiment come first (under round_robin, experiments take turns)",
    ahead: 32,
    blockers: [],
    startsWhen: "when the runs ahead have started, 10.9#1 first",
  });
  expect(explainOne(toy.pool, "10.9#1", 0)).toMatchObject({
    reason: "not_enough_free",
    startsWhen: "when 1 slot is free",
  });
  toy.end(...toy.running.keys());
  expect(toy.placed()).toEqual(Array.from({ length: 8 }, (_, n) => `10.${n + 9}#1`));
});

test("a gang behind runs that cannot use its slots starts when the runs on its slots have ended", () => {
  const toy = new ToyCluster({}, { a: 2, b: 1 });
  toy.queue("x", 2);
  toy.queue("y", 1);
  toy.pass();
  const asked = { ...noConditions, excludedAgents: ["a"] };
  toy.queue("small", 1, { constraints: asked });
  toy.queue("gang", 2, { singleAgent: true });
  expect(explainOne(toy.pool, "gang", 0)).toMatchObject({
    reason: "not_enough_free",
    blockers: ["x"],
    startsWhen: "when x has ended",
  });
});

test.each([
  [0, "when the quota of the workspace default is raised: the run needs 1 slot"],
  [1, "when runs of the workspace default end, or its quota is raised"],
])("a run over a quota of %i slots starts %s", (slots, startsWhen) => {
  const quotas = [{ workspace: "default", slots, borrow: false }];
  const toy = new ToyCluster({ quotas }, { a: 4 });
  toy.queue("first", 1, { workspace: "default" });
  toy.queue("second", 1, { workspace: "default" });
  toy.pass();
  expect(explainOne(toy.pool, "second", 0)).toMatchObject({ reason: "quota", startsWhen });
});

test("a run of better priority ahead is not the reason to change the policy", () => {
  const toy = sweepBeforeGang({ priority: 50 });
  expect(explainOne(toy.pool, "11.1#1", 0)?.detail).toBe(
    "the runs ahead in the queue have not started yet",
  );
});

test("runs that wait hold no slots", () => {
  const toy = new ToyCluster({}, { a: 2 });
  toy.queue("x", 1);
  toy.pass();
  toy.queue("two", 2);
  toy.queue("c", 1);
  expect(explainOne(toy.pool, "c", 0)).toMatchObject({ reason: "reserved", blockers: [] });
});

test("a run that the next pass starts waits for nothing else", () => {
  const toy = new ToyCluster({}, { a: 2 });
  toy.queue("x", 1);
  expect(explainOne(toy.pool, "x", 0)).toMatchObject({
    detail: "the next placement starts the run",
    startsWhen: "at the next placement",
  });
});
