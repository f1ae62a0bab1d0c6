import fc from "fast-check";
import { expect, test } from "vitest";
import { fairShareSchedule } from "./fair-share.ts";
import { findFits } from "./fit.ts";
import type { Decision, DeterminedTask, FitRules, Queue } from "./model.ts";
import { priorityClasses } from "./order.ts";
import { prioritySchedule } from "./priority.ts";
import { emptySlotless, emptySlots, occupy, roomsOf } from "./rooms.ts";
import { exampleAgent, exampleQueue, exampleTask } from "./testing/examples.ts";

const jobs = ["j0", "j1", "j2", "j3"];

const anyTask = fc.record({
  job: fc.constantFrom(...jobs),
  slots: fc.nat({ max: 9 }),
  preemptible: fc.boolean(),
  singleAgent: fc.boolean(),
  blockedAgents: fc.subarray(["a0", "a1"]),
  runs: fc.boolean(),
});

/** A random queue whose running tasks are placed by `findFits`. */
const anyQueue: fc.Arbitrary<Queue> = fc
  .record({
    agents: fc.array(
      fc.record({
        slots: fc.nat({ max: 8 }),
        slotlessMax: fc.nat({ max: 2 }),
        takesWork: fc.boolean(),
      }),
      { maxLength: 5 },
    ),
    tasks: fc.array(anyTask, { maxLength: 14 }),
    jobs: fc.tuple(
      ...jobs.map(() =>
        fc.record({
          priority: fc.option(fc.integer({ min: 1, max: 3 })),
          weight: fc.nat({ max: 3 }),
          maxSlots: fc.option(fc.nat({ max: 8 })),
        }),
      ),
    ),
    positions: fc.tuple(...jobs.map(() => fc.nat({ max: 3 }))),
  })
  .map((drawn) => {
    const agents = drawn.agents.map((agent, at) => ({ ...exampleAgent, ...agent, id: `a${at}` }));
    const rooms = roomsOf(agents.map((agent) => ({ ...agent, takesWork: true })));
    const tasks = drawn.tasks.map(({ runs, ...task }, at): DeterminedTask => {
      const wanted = { ...exampleTask, ...task, id: `t${at}`, requested: at };
      const placement = runs
        ? findFits(wanted, rooms, { policy: "best", heterogeneous: true })
        : null;
      occupy(rooms, placement ?? []);
      return { ...wanted, placement };
    });
    const named = <Value>(values: readonly Value[]) =>
      Object.fromEntries(values.map((value, at) => [`j${at}`, value]));
    return exampleQueue(
      Object.fromEntries(
        agents.map((agent) => [agent.id, { ...agent, ...usedOf(rooms, agent.id) }]),
      ),
      tasks,
      named(drawn.jobs),
      named(drawn.positions),
    );
  });

function usedOf(rooms: ReturnType<typeof roomsOf>, id: string) {
  const { usedSlots = 0, slotless = 0 } = rooms.get(id) ?? {};
  return { usedSlots, slotless };
}

const anyRules: fc.Arbitrary<FitRules> = fc.record({
  policy: fc.constantFrom("best" as const, "worst" as const),
  heterogeneous: fc.boolean(),
});

/** Checks the properties that every pass has under any rules; returns the free room after the starts. */
function checkDecision(queue: Queue, { starts, releases }: Decision) {
  const byId = new Map(queue.tasks.map((task) => [task.id, task]));
  const rooms = roomsOf(queue.agents);
  expect(new Set(starts.map(({ task }) => task)).size).toBe(starts.length);
  for (const { task: id, parts } of starts) {
    const task = byId.get(id) as DeterminedTask;
    expect(task.placement, "it waited").toBeNull();
    expect(parts.reduce((sum, { slots }) => sum + slots, 0)).toBe(task.slots);
    expect(new Set(parts.map(({ agent }) => agent)).size).toBe(parts.length);
    if (task.singleAgent || task.slots === 0) expect(parts).toHaveLength(1);
    for (const { agent, slots } of parts) {
      const room = rooms.get(agent);
      expect(room !== undefined && !task.blockedAgents.includes(agent)).toBe(true);
      if (room === undefined) continue;
      const empty = slots === 0 ? Math.min(1, emptySlotless(room)) - 1 : emptySlots(room) - slots;
      expect(empty, "no slot twice").toBeGreaterThanOrEqual(0);
      occupy(rooms, [{ agent, slots }]);
    }
  }
  expect(new Set(releases.map(({ task }) => task)).size).toBe(releases.length);
  for (const { task, by } of releases) {
    expect(byId.get(task)?.preemptible && byId.get(task)?.placement !== null).toBe(true);
    if (by !== "") expect(byId.get(by)?.placement).toBeNull();
  }
  return { rooms, byId };
}

test("a priority pass respects slots and constraints, and stops a task only for one of equal or better priority", () => {
  fc.assert(
    fc.property(anyQueue, anyRules, fc.boolean(), (queue, rules, preemption) => {
      const before = JSON.stringify(queue);
      const decision = prioritySchedule(queue, { ...rules, preemption });
      expect(JSON.stringify(queue), "the pass reads only").toBe(before);
      const { rooms, byId } = checkDecision(queue, decision);
      if (!preemption) expect(decision.releases).toEqual([]);
      const priorityOf = (id: string): number =>
        queue.jobs.get(byId.get(id)?.job ?? "")?.priority ?? Number.NaN;
      for (const { task, by } of decision.releases) {
        expect(priorityOf(by)).toBeLessThanOrEqual(priorityOf(task));
      }
      for (const kind of ["slotted", "slotless"] as const) {
        const [first] = priorityClasses(queue, kind).filter(({ waiting }) => waiting.length > 0);
        const started = new Set(decision.starts.map(({ task }) => task));
        // With `heterogeneous`, a task may fit in less room though it did not fit in more.
        for (const task of rules.heterogeneous ? [] : (first?.waiting ?? [])) {
          if (!started.has(task.id)) expect(findFits(task, rooms, rules)).toBeNull();
        }
      }
    }),
    { numRuns: 500 },
  );
});

test("a fair share pass respects slots and constraints, and never both starts and stops tasks of one job", () => {
  fc.assert(
    fc.property(anyQueue, anyRules, (queue, rules) => {
      const before = JSON.stringify(queue);
      const decision = fairShareSchedule(queue, rules);
      expect(JSON.stringify(queue), "the pass reads only").toBe(before);
      const { byId } = checkDecision(queue, decision);
      const slotted = decision.starts.filter(({ task }) => byId.get(task)?.slots !== 0);
      const starting = new Set(slotted.map(({ task }) => byId.get(task)?.job));
      for (const { task } of decision.releases) {
        expect(starting.has(byId.get(task)?.job)).toBe(false);
      }
      for (const job of starting) {
        const { maxSlots = null } = queue.jobs.get(job ?? "") ?? {};
        const held = queue.tasks.filter((task) => task.job === job && task.placement !== null);
        const started = slotted.flatMap(({ task }) => byId.get(task) ?? []);
        const all = [...held, ...started.filter((task) => task.job === job)];
        const slots = all.reduce((sum, task) => sum + task.slots, 0);
        expect(slots).toBeLessThanOrEqual(maxSlots ?? Number.POSITIVE_INFINITY);
      }
    }),
    { numRuns: 500 },
  );
});
