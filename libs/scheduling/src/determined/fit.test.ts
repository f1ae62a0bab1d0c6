import { expect, test } from "vitest";
import { findFits, fitScore, hashDistance } from "./fit.ts";
import { md5Le64 } from "./md5.ts";
import type { DeterminedAgent, FitRules, Part } from "./model.ts";
import { type Room, roomsOf } from "./rooms.ts";
import { exampleAgent, exampleTask } from "./testing/examples.ts";

const best: FitRules = { policy: "best", heterogeneous: false };
const worst: FitRules = { policy: "worst", heterogeneous: false };
const mixed: FitRules = { policy: "best", heterogeneous: true };

function fits(
  task: Partial<typeof exampleTask>,
  agents: Readonly<Record<string, Partial<DeterminedAgent>>>,
  rules: FitRules = best,
): readonly Part[] | null {
  const all = Object.entries(agents).map(([id, given]) => ({ ...exampleAgent, id, ...given }));
  return findFits({ ...exampleTask, ...task }, roomsOf(all), rules);
}

const agentsOf = (parts: readonly Part[] | null) => parts?.map(({ agent }) => agent).sort() ?? null;

test("best fit takes the agent that is left with the fewest empty slots", () => {
  expect(fits({ slots: 2 }, { a: { slots: 8 }, b: { slots: 8, usedSlots: 5 } })).toEqual([
    { agent: "b", slots: 2 },
  ]);
});

test("worst fit takes the agent with the largest share of empty slots, not with the most empty slots", () => {
  const agents = { a: { slots: 8, usedSlots: 5 }, b: { slots: 2 } };
  expect(agentsOf(fits({ slots: 1 }, agents, worst))).toEqual(["b"]);
});

test("the agent with the least hash distance to the task is taken among equal agents", () => {
  const ids = ["one", "two", "three", "four", "five"];
  const hash = md5Le64("the task");
  const nearest = ids.toSorted((a, b) =>
    hashDistance(hash, md5Le64(a)) < hashDistance(hash, md5Le64(b)) ? -1 : 1,
  );
  const agents = Object.fromEntries(ids.map((id) => [id, {}]));
  expect(agentsOf(fits({ id: "the task" }, agents))).toEqual([nearest[0]]);
});

test("the hash distance wraps at 64 bits", () => {
  expect(hashDistance(1n, 2n)).toBe(2n ** 64n - 1n);
});

test("a task without slots goes to an agent that runs fewer such tasks than its maximum", () => {
  const agents = { a: { slotlessMax: 2, slotless: 2 }, b: { slotlessMax: 1 } };
  expect(fits({ slots: 0 }, agents)).toEqual([{ agent: "b", slots: 0 }]);
  expect(fits({ slots: 0 }, { a: {} })).toBeNull();
});

test("free places for tasks without slots are scored only on agents without used slots", () => {
  const room: Room = { ...exampleAgent, slotlessMax: 9, hash: 0n };
  expect(fitScore("best", 0, room)).toBe(1 / 10);
  expect(fitScore("best", 0, { ...room, usedSlots: 1 })).toBe(1 / 4);
  expect(fitScore("worst", 0, { ...room, slotless: 3 })).toBe(6 / 9);
  expect(fitScore("worst", 0, { ...room, usedSlots: 1 })).toBe(3 / 4);
});

test("a task on several agents takes whole agents of the largest size that divides its slots", () => {
  const agents = { a: { slots: 6 }, b: { slots: 4 }, c: { slots: 4 }, d: { slots: 4 } };
  expect(agentsOf(fits({ slots: 12 }, agents))).toEqual(["b", "c", "d"]);
  expect(agentsOf(fits({ slots: 12 }, { ...agents, e: { slots: 6 } }))).toEqual(["a", "e"]);
});

test("an agent with a used slot takes no part of a task on several agents", () => {
  const agents = { a: { slots: 4 }, b: { slots: 5, usedSlots: 1 } };
  expect(fits({ slots: 8 }, agents)).toBeNull();
});

test("a task that must be on one agent is not split", () => {
  const agents = { a: {}, b: {} };
  expect(fits({ slots: 8, singleAgent: true }, agents)).toBeNull();
  expect(agentsOf(fits({ slots: 8 }, agents))).toEqual(["a", "b"]);
});

test("a task is split over agents of different sizes only if the rules allow it", () => {
  const agents = { a: { slots: 8 }, b: { slots: 4 } };
  expect(fits({ slots: 12 }, agents)).toBeNull();
  expect(fits({ slots: 12 }, agents, mixed)).toEqual([
    { agent: "a", slots: 8 },
    { agent: "b", slots: 4 },
  ]);
});

test("sizes must add up exactly, and the largest agent is taken first even if the rest then does not fit", () => {
  expect(fits({ slots: 11 }, { a: { slots: 8 }, b: { slots: 4 } }, mixed)).toBeNull();
  const agents = { a: { slots: 8 }, b: { slots: 6 }, c: { slots: 4 } };
  expect(fits({ slots: 10 }, agents, mixed)).toBeNull();
});

test("a task is not placed on agents that it is blocked from, even as whole agents", () => {
  expect(fits({ blockedAgents: ["a"] }, { a: {} })).toBeNull();
  const agents = { a: {}, b: {}, c: {} };
  expect(agentsOf(fits({ slots: 8, blockedAgents: ["b"] }, agents))).toEqual(["a", "c"]);
});

test("an agent that takes no work has no room, with or without slots", () => {
  const agents = { a: { takesWork: false, slotlessMax: 5 } };
  expect(fits({}, agents)).toBeNull();
  expect(fits({ slots: 0 }, agents)).toBeNull();
});
