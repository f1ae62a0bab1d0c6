import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { agentsToLaunch, instancesToEnd } from "./decide.ts";
import { type Instance, type InstanceLimits, judgeInstances, noMarks } from "./instances.ts";

const limits: InstanceLimits = { idleMs: 100, startingMs: 50, disconnectedMs: 200 };
const NOW = 10_000;

function instance(id: string, agent: Instance["agent"], others: Partial<Instance> = {}): Instance {
  return { id, launchedAtMs: 0, state: "running", agent, ...others };
}

describe("an instance", () => {
  const judge = (one: Instance, sinceMs?: number) => {
    const known = sinceMs === undefined ? [] : [[one.id, sinceMs] as const];
    const marks = { idleSinceMs: new Map(known), disconnectedSinceMs: new Map(known) };
    return judgeInstances([one], marks, limits, NOW);
  };

  test("becomes idle at its first decision without runs, and is long idle after the limit", () => {
    expect(judge(instance("i", "idle")).marks.idleSinceMs).toEqual(new Map([["i", NOW]]));
    expect(judge(instance("i", "idle"), NOW - 100).longIdle).toEqual([]);
    expect(judge(instance("i", "idle"), NOW - 101).longIdle).toEqual(["i"]);
  });

  test("loses its idle and disconnected marks once its agent has runs", () => {
    expect(judge(instance("i", "busy"), 0).marks).toEqual(noMarks);
  });

  test("may join until its starting time is over, and counts as disconnected afterwards", () => {
    const young = judge(instance("i", "absent", { launchedAtMs: NOW - 49 }));
    expect([young.starting, young.marks]).toEqual([["i"], noMarks]);
    const late = judge(instance("i", "absent", { launchedAtMs: NOW - 50 }));
    expect(late.starting).toEqual([]);
    expect(late.marks.disconnectedSinceMs).toEqual(new Map([["i", NOW]]));
    expect(judge(instance("i", "absent"), NOW - 201).longDisconnected).toEqual(["i"]);
  });

  test("is only reported as stopped when its machine is stopped", () => {
    const judged = judge(instance("i", "absent", { state: "stopped" }), 0);
    expect(judged).toEqual({
      marks: noMarks,
      stopped: ["i"],
      starting: [],
      longIdle: [],
      longDisconnected: [],
    });
  });
});

describe("too many instances", () => {
  const end = (instances: readonly Instance[], agentsMax: number) =>
    instancesToEnd(instances, judgeInstances(instances, noMarks, limits, NOW), {
      agentsMin: 0,
      agentsMax,
    }).map(({ id, reason }) => [id, reason]);
  const instances = [
    instance("old", "busy"),
    instance("new", "busy", { launchedAtMs: 2 }),
    instance("away", "absent"),
    instance("idle", "idle"),
    instance("spot", "absent", { state: "pending", launchedAtMs: NOW }),
  ];

  test("are terminated in the order pending, idle, away, newest", () => {
    expect(end(instances, 5)).toEqual([]);
    expect(end(instances, 1)).toEqual([
      ["spot", "above_max"],
      ["idle", "above_max"],
      ["away", "above_max"],
      ["new", "above_max"],
    ]);
  });
});

test("the minimum keeps the instances that have been idle for the shortest time", () => {
  const instances = ["a", "b", "c"].map((id) => instance(id, "idle"));
  const marks = {
    idleSinceMs: new Map([
      ["a", 2],
      ["b", 1],
      ["c", 3],
    ]),
    disconnectedSinceMs: new Map<string, number>(),
  };
  const judged = judgeInstances(instances, marks, limits, NOW);
  const ended = instancesToEnd(instances, judged, { agentsMin: 1, agentsMax: 9 });
  expect(ended).toEqual([
    { id: "b", reason: "idle" },
    { id: "a", reason: "idle" },
  ]);
});

test("launches fill up to the minimum, count starting instances, and stop at the maximum", () => {
  const launched = (instances: number, starting: number, wanted: number) =>
    agentsToLaunch({ agentsMin: 2, agentsMax: 5 }, { instances, starting, wanted });
  expect(launched(0, 0, 0)).toBe(2);
  expect(launched(3, 1, 2)).toBe(1);
  expect(launched(3, 0, 9)).toBe(2);
  expect(launched(7, 0, 9)).toBe(0);
});

const anyInstance = fc.record({
  launchedAtMs: fc.integer({ min: NOW - 100, max: NOW }),
  state: fc.constantFrom("pending" as const, "running" as const, "stopped" as const),
  agent: fc.constantFrom("absent" as const, "idle" as const, "busy" as const),
  markedAtMs: fc.integer({ min: NOW - 300, max: NOW }),
});

test("instances stay between the minimum and the maximum, and idle ones are terminated only after the limit", () => {
  fc.assert(
    fc.property(
      fc.array(anyInstance, { maxLength: 9 }),
      fc.nat({ max: 5 }),
      fc.nat({ max: 5 }),
      fc.nat({ max: 9 }),
      (drawn, agentsMin, more, wanted) => {
        const fleet = { agentsMin, agentsMax: agentsMin + more };
        const instances = drawn.map((one, at) => ({ ...one, id: String(at) }));
        const since = new Map(instances.map(({ id, markedAtMs }) => [id, markedAtMs]));
        const marks = { idleSinceMs: since, disconnectedSinceMs: since };
        const judged = judgeInstances(instances, marks, limits, NOW);
        const ended = instancesToEnd(instances, judged, fleet);
        const left = instances.length - ended.length;
        const counts = { instances: left, starting: judged.starting.length, wanted };
        const launched = agentsToLaunch(fleet, counts);
        expect(left + launched).toBeGreaterThanOrEqual(agentsMin);
        expect(left + launched).toBeLessThanOrEqual(fleet.agentsMax);
        expect(new Set(ended.map(({ id }) => id)).size).toBe(ended.length);
        for (const { id, reason } of ended) {
          if (reason === "idle") expect(NOW - (since.get(id) ?? NOW)).toBeGreaterThan(100);
          if (reason === "above_max") expect(left).toBe(fleet.agentsMax);
        }
      },
    ),
    { numRuns: 500 },
  );
});
