import { expect, test } from "vitest";
import type { Demand } from "./demand.ts";
import { explainWaits } from "./explain.ts";
import { Pool } from "./pool.ts";

function demand(id: string, slots: number, rest: Partial<Demand> = {}): Demand {
  return { id, slots, priority: 42, singleAgent: false, arrival: 1, ...rest };
}

function waitingIn(pool: Pool, ...demands: readonly Demand[]): string[] {
  for (const [index, one] of demands.entries()) pool.queue.add({ ...one, arrival: index + 1 });
  return explainWaits(pool, 100).map(({ id, reason, detail }) => `${id}: ${reason}: ${detail}`);
}

test("a pool that no agent has joined", () => {
  expect(waitingIn(new Pool(), demand("a", 1))).toEqual([
    "a: no_agents: no agent has joined the pool yet",
  ]);
});

test("agents that are away", () => {
  const pool = new Pool();
  pool.agents.join("one", ["0", "1"], false);
  pool.agents.join("two", ["0"], true);
  expect(waitingIn(pool, demand("a", 2))).toEqual([
    "a: agents_away: 1 of the pool's 2 agents are away, with 2 of its 3 slots",
  ]);
});

test("too little that is free, and others ahead", () => {
  const pool = new Pool();
  pool.agents.join("one", ["0", "1"], true);
  pool.agents.hold("one", "x", ["0"]);
  expect(waitingIn(pool, demand("a", 2), demand("b", 2), demand("c", 1, { priority: 50 }))).toEqual(
    [
      "a: not_enough_free: it needs 2 slots and 1 of 2 are free",
      "b: behind_others: others are ahead of it in the queue",
      "c: behind_others: others are ahead of it in the queue",
    ],
  );
});

test("too little that is free on one agent", () => {
  const pool = new Pool();
  pool.agents.join("one", ["0"], true);
  pool.agents.join("two", ["0"], true);
  expect(waitingIn(pool, demand("a", 2, { singleAgent: true }))).toEqual([
    "a: not_enough_free: it needs 2 slots and at most 1 are free on one agent",
  ]);
});

test("a limited number, in the queue's order", () => {
  const pool = new Pool();
  for (let n = 0; n < 5; n += 1) pool.queue.add(demand(`d${n}`, 1, { arrival: n }));
  expect(explainWaits(pool, 2).map((wait) => wait.id)).toEqual(["d0", "d1"]);
});
