import { expect, test } from "vitest";
import type { Demand } from "./demand.ts";
import { explainWaits } from "./explain.ts";
import { Pool } from "./pool.ts";
import { exampleDemand } from "./testing/example-demand.ts";
import { exampleOffer } from "./testing/example-offer.ts";

function demand(id: string, slots: number, rest: Partial<Demand> = {}): Demand {
  return { ...exampleDemand, id, slots, ...rest };
}

function waitingIn(pool: Pool, ...demands: readonly Demand[]): string[] {
  for (const [index, one] of demands.entries()) pool.queue.add({ ...one, arrival: index + 1 });
  return explainWaits(pool, 100, 0).map(({ id, reason, detail }) => `${id}: ${reason}: ${detail}`);
}

test("a pool that no agent has joined", () => {
  expect(waitingIn(new Pool(), demand("a", 1))).toEqual([
    "a: no_agents: no agent has joined the pool yet",
  ]);
});

test("agents that are away", () => {
  const pool = new Pool();
  pool.agents.join("one", exampleOffer(2), false);
  pool.agents.join("two", exampleOffer(1), true);
  expect(waitingIn(pool, demand("a", 2))).toEqual([
    "a: agents_away: 1 of the pool's 2 agents are away, with 2 of its 3 slots",
  ]);
});

test("too little that is free, and others ahead", () => {
  const pool = new Pool();
  pool.agents.join("one", exampleOffer(2), true);
  pool.agents.hold("one", "x", ["0"]);
  pool.start(demand("x", 1), { atMs: 0, startedAtMs: 0 });
  expect(waitingIn(pool, demand("a", 2), demand("b", 2), demand("c", 1, { priority: 50 }))).toEqual(
    [
      "a: not_enough_free: it needs 2 slots and 1 of 2 are free",
      "b: behind_others: others are ahead of it in the queue",
      "c: reserved: the free slots are reserved for a, which is ahead of it in the queue",
    ],
  );
});

test("too little that is free on one agent", () => {
  const pool = new Pool();
  pool.agents.join("one", exampleOffer(1), true);
  pool.agents.join("two", exampleOffer(1), true);
  expect(waitingIn(pool, demand("a", 2, { singleAgent: true }))).toEqual([
    "a: not_enough_free: it needs 2 slots and at most 1 are free on one agent",
  ]);
});

test("a limited number, in the queue's order", () => {
  const pool = new Pool();
  for (let n = 0; n < 5; n += 1) pool.queue.add(demand(`d${n}`, 1, { arrival: n }));
  expect(explainWaits(pool, 2, 0).map((wait) => wait.id)).toEqual(["d0", "d1"]);
});

const full = {
  kind: "low_disk",
  detail: "one has 5 MB of disk left, and a run needs 256 MB",
} as const;
const broken = { kind: "distrusted", detail: "launches failed on two" } as const;

test("agents that are there and blocked are the reason where the others could not take it", () => {
  const pool = new Pool();
  pool.agents.join("one", exampleOffer(2), true);
  pool.agents.setBlock("one", full);
  expect(waitingIn(pool, demand("a", 1))).toEqual([`a: low_disk: ${full.detail}`]);
  pool.agents.join("two", exampleOffer(1), true);
  pool.agents.setBlock("two", broken);
  pool.agents.join("three", exampleOffer(1), true);
  pool.agents.hold("three", "x", ["0"]);
  expect(waitingIn(pool, demand("b", 2))).toEqual([
    `a: not_enough_free: it needs 1 slot and 0 of 1 are free; ${full.detail}; ${broken.detail}`,
    `b: low_disk: ${full.detail}; ${broken.detail}`,
  ]);
});

test("agents that it avoids are named, and their slots do not count as free", () => {
  const pool = new Pool();
  pool.agents.join("one", exampleOffer(2), true);
  pool.agents.join("two", exampleOffer(1), true);
  pool.agents.hold("two", "x", ["0"]);
  expect(waitingIn(pool, demand("a", 1, { avoid: ["one"] }))).toEqual([
    "a: not_enough_free: it needs 1 slot and 0 of 1 are free; its launch failed on one, where it is not tried again while another agent could take it",
  ]);
});
