import { expect, test } from "vitest";
import { determinedNewAgents, isIdleAgent, slotTypeOf } from "./desired-agents.ts";

const size = { slotsPerAgent: 4, slotlessPerAgent: 10 };
const task = (slots: number, job = "j") => ({ job, slots, placement: null });
const noJobs = new Map<string, { readonly maxSlots: number | null }>();

test("Determined's number of agents is the waiting slots divided by the slots of an agent, rounded up", () => {
  expect(determinedNewAgents([task(1), task(4), task(4)], noJobs, size)).toBe(3);
});

test("a task counts if it fits on one agent or fills whole agents", () => {
  expect(determinedNewAgents([task(8)], noJobs, size)).toBe(2);
  expect(determinedNewAgents([task(6)], noJobs, size)).toBe(0);
});

test("a job counts with at most its maxSlots", () => {
  const jobs = new Map([["j", { maxSlots: 3 }]]);
  expect(determinedNewAgents([task(4), task(4), task(4, "k")], jobs, size)).toBe(2);
});

test("the number of agents is the larger of those for tasks with slots and those for tasks without", () => {
  const slotless = Array.from({ length: 21 }, () => task(0));
  expect(determinedNewAgents([...slotless, task(4)], noJobs, size)).toBe(3);
  expect(determinedNewAgents(slotless, noJobs, { ...size, slotlessPerAgent: 0 })).toBe(0);
});

test("placed tasks count for no new agent", () => {
  expect(determinedNewAgents([{ ...task(4), placement: [] }], noJobs, size)).toBe(0);
});

test("an agent is idle when it runs no task, with or without slots", () => {
  expect(isIdleAgent({ usedSlots: 0, slotless: 0 })).toBe(true);
  expect(isIdleAgent({ usedSlots: 0, slotless: 1 })).toBe(false);
  expect(isIdleAgent({ usedSlots: 1, slotless: 0 })).toBe(false);
});

test("a pool has a slot type if all its slots have the same device type", () => {
  expect(slotTypeOf(["cuda", "cuda"])).toBe("cuda");
  expect(slotTypeOf(["cuda", "cpu"])).toBe("");
  expect(slotTypeOf([])).toBe("");
});
