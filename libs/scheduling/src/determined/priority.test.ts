import { describe, expect, test } from "vitest";
import { type PriorityRules, prioritySchedule } from "./priority.ts";
import { exampleQueue, on } from "./testing/examples.ts";

const preempting: PriorityRules = { policy: "best", heterogeneous: false, preemption: true };
const waiting: PriorityRules = { ...preempting, preemption: false };

/** Example jobs that are named after their priority. */
const jobs = { good: { priority: 10 }, middle: { priority: 50 }, bad: { priority: 90 } };

function pass(
  rules: PriorityRules,
  [agents, tasks, given = jobs, positions = {}]: Parameters<typeof exampleQueue>,
) {
  const { starts, releases } = prioritySchedule(
    exampleQueue(agents, tasks, given, positions),
    rules,
  );
  return {
    starts: starts.map(({ task }) => task),
    releases: releases.map(({ task, by }) => [task, by]),
  };
}

describe("without preemption", () => {
  test("a task that does not fit holds up tasks of worse priority, but not of its own", () => {
    const decision = pass(waiting, [
      { a: 4 },
      [
        { id: "huge", job: "good", slots: 9 },
        { id: "small", job: "good", slots: 1 },
        { id: "worse", job: "bad", slots: 1 },
      ],
    ]);
    expect(decision).toEqual({ starts: ["small"], releases: [] });
  });

  test("tasks with slots and tasks without slots do not wait for each other", () => {
    const decision = pass(waiting, [
      { a: { slots: 4, slotlessMax: 1 } },
      [
        { id: "huge", job: "good", slots: 9 },
        { id: "slotless", job: "bad", slots: 0 },
      ],
    ]);
    expect(decision.starts).toEqual(["slotless"]);
  });
});

describe("with preemption", () => {
  test("only preemptible tasks are backfilled, but other fitting tasks still occupy their room", () => {
    const tasks = [
      { id: "huge", job: "good", slots: 9 },
      { id: "firm", job: "middle", slots: 3, preemptible: false },
      { id: "soft", job: "bad", slots: 1 },
      { id: "softer", job: "bad", slots: 2 },
    ];
    const { starts } = prioritySchedule(exampleQueue({ a: 4 }, tasks, jobs), preempting);
    expect(starts).toEqual([{ task: "soft", parts: [{ agent: "a", slots: 1 }], backfilled: true }]);
  });

  test("victims are taken from the worst priority and the end of the queue, and only as many as needed", () => {
    const decision = pass(preempting, [
      { a: 4 },
      [
        { id: "1", job: "middle", placement: on({ a: 1 }) },
        { id: "2", job: "bad", placement: on({ a: 1 }) },
        { id: "3", job: "bad", placement: on({ a: 1 }) },
        { id: "4", job: "middle", placement: on({ a: 1 }) },
        { id: "new", job: "good", slots: 3 },
      ],
    ]);
    expect(decision).toEqual({
      starts: [],
      releases: [
        ["3", "new"],
        ["2", "new"],
        ["4", "new"],
      ],
    });
  });

  test("a victim that proves unnecessary is stopped anyway", () => {
    const decision = pass(preempting, [
      { a: 1, b: 4 },
      [
        { id: "on b", job: "bad", slots: 4, placement: on({ b: 4 }) },
        { id: "on a", job: "bad", slots: 1, placement: on({ a: 1 }) },
        { id: "new", job: "good", slots: 4 },
      ],
    ]);
    expect(decision.releases).toEqual([
      ["on a", "new"],
      ["on b", "new"],
    ]);
  });

  test("a task that would not fit anyway stops none, and better or unpreemptible tasks are never stopped", () => {
    const decision = pass(preempting, [
      { a: 4 },
      [
        { id: "better", job: "good", placement: on({ a: 1 }) },
        { id: "firm", job: "bad", preemptible: false, placement: on({ a: 1 }) },
        { id: "soft", job: "bad", slots: 2, placement: on({ a: 2 }) },
        { id: "new", job: "middle", slots: 3 },
      ],
    ]);
    expect(decision).toEqual({ starts: [], releases: [] });
  });

  test("a victim of equal priority must belong to a job that is behind in the queue", () => {
    const given = { ahead: {}, asking: {}, behind: {} };
    const tasks = [
      { id: "ahead", job: "ahead", slots: 2, placement: on({ a: 2 }) },
      { id: "behind", job: "behind", slots: 2, placement: on({ a: 2 }) },
      { id: "new", job: "asking", slots: 2 },
    ];
    const positions = { ahead: 1, asking: 2, behind: 3 };
    const decide = (order: Readonly<Record<string, number>>) =>
      pass(preempting, [{ a: 4 }, tasks, given, order]).releases;
    expect(decide(positions)).toEqual([["behind", "new"]]);
    expect(decide({ ...positions, behind: 2 })).toEqual([]);
  });

  test("a second task waits for planned releases if it fits after them", () => {
    const decision = pass(preempting, [
      { a: 4 },
      [
        { id: "victim", job: "bad", slots: 4, placement: on({ a: 4 }) },
        { id: "first", job: "good", slots: 2 },
        { id: "second", job: "good", slots: 2 },
      ],
    ]);
    expect(decision).toEqual({ starts: [], releases: [["victim", "first"]] });
  });

  test("a task of worse priority does not start once a release is planned", () => {
    const decision = pass(preempting, [
      { a: 4, b: 2 },
      [
        { id: "victim", job: "bad", slots: 4, placement: on({ a: 4 }) },
        { id: "new", job: "good", slots: 4 },
        { id: "own priority", job: "good", slots: 1 },
        { id: "worse", job: "middle", slots: 1 },
      ],
    ]);
    expect(decision).toEqual({ starts: ["own priority"], releases: [["victim", "new"]] });
  });

  test("a task that failed may fit after another task's releases when agent sizes may be combined", () => {
    const queue = exampleQueue(
      { four: 4, three: 3, two: 2 },
      [
        { id: "on three", job: "bad", slots: 3, placement: on({ three: 3 }) },
        { id: "on four", job: "bad", slots: 4, placement: on({ four: 4 }) },
        // While agent `four` is empty it is taken first, and the remaining slot fits on no whole agent.
        { id: "first", job: "good", slots: 5 },
        { id: "other", job: "good", slots: 3 },
        { id: "second", job: "good", slots: 5 },
      ],
      jobs,
    );
    const { releases } = prioritySchedule(queue, { ...preempting, heterogeneous: true });
    expect(releases).toEqual([
      { task: "on four", by: "other" },
      { task: "on three", by: "second" },
    ]);
  });
});
