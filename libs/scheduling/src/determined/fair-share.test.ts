import { describe, expect, test } from "vitest";
import { fairShareSchedule } from "./fair-share.ts";
import { exampleQueue, on, type TaskLike } from "./testing/examples.ts";

function pass(...queue: Parameters<typeof exampleQueue>) {
  const { starts, releases } = fairShareSchedule(exampleQueue(...queue), {
    policy: "best",
    heterogeneous: false,
  });
  return {
    starts: starts.map(({ task }) => task),
    releases: releases.map(({ task }) => task),
  };
}

/** Returns `count` tasks of one slot, named after their job. */
const tasksOf = (job: string, count: number, held: TaskLike["placement"] = null): TaskLike[] =>
  Array.from({ length: count }, (_, n) => ({ id: `${job}${n}`, job, placement: held }));

const countOf = (ids: readonly string[], job: string): number =>
  ids.filter((id) => id.startsWith(job)).length;

describe("offers", () => {
  test("follow the weights of the jobs", () => {
    const { starts } = pass({ a: 8 }, [...tasksOf("x", 8), ...tasksOf("y", 8)], {
      x: { weight: 3 },
      y: { weight: 1 },
    });
    expect([countOf(starts, "x"), countOf(starts, "y")]).toEqual([6, 2]);
  });

  test("end when the sum of the weights is infinite", () => {
    const { starts } = pass({ a: 4 }, [...tasksOf("x", 4), ...tasksOf("y", 4)], {
      x: { weight: Number.POSITIVE_INFINITY },
      y: { weight: 1 },
    });
    expect(starts.length).toBeLessThanOrEqual(4);
  });

  test("are at least one slot per round, the smallest demand first", () => {
    const { starts } = pass({ a: 2 }, [...tasksOf("x", 9), ...tasksOf("y", 3)], {
      x: { weight: 100 },
      y: { weight: 0 },
    });
    expect([countOf(starts, "x"), countOf(starts, "y")]).toEqual([1, 1]);
  });

  test("are at most the job's maxSlots, and other jobs get the rest", () => {
    const { starts } = pass({ a: 8 }, [...tasksOf("x", 8), ...tasksOf("y", 8)], {
      x: { maxSlots: 1 },
      y: {},
    });
    expect([countOf(starts, "x"), countOf(starts, "y")]).toEqual([1, 7]);
  });

  test("ignore tasks that the pool could not hold, or that are blocked from too many of its agents", () => {
    const blocked = { id: "blocked", job: "x", slots: 3, blockedAgents: ["b"] };
    const { starts } = pass(
      { a: 2, b: 2 },
      [{ id: "huge", job: "x", slots: 5 }, blocked, ...tasksOf("y", 4)],
      { x: { weight: 9 }, y: {} },
    );
    expect(countOf(starts, "y")).toBe(4);
  });

  test("begin with the slots of running tasks that cannot be preempted", () => {
    const firm = { id: "firm", job: "x", slots: 3, preemptible: false, placement: on({ a: 3 }) };
    const { starts, releases } = pass({ a: 4 }, [firm, ...tasksOf("x", 4), ...tasksOf("y", 4)], {
      x: {},
      y: { weight: 0 },
    });
    expect({ y: countOf(starts, "y"), releases }).toEqual({ y: 1, releases: [] });
  });
});

test("a job's shares up to the slots of its unpreemptible tasks are already part of its offer", () => {
  const firm = { id: "firm", job: "x", slots: 3, preemptible: false, placement: on({ a: 3 }) };
  const { starts } = pass({ a: 8 }, [firm, ...tasksOf("x", 5), ...tasksOf("y", 8)], {
    x: {},
    y: {},
  });
  expect([countOf(starts, "x"), countOf(starts, "y")]).toEqual([1, 4]);
});

describe("a deadlock", () => {
  const pairs = (job: string): TaskLike => ({ id: job, job, slots: 2 });

  test("is resolved by giving the newest job's offer to the other jobs", () => {
    expect(pass({ a: 2 }, [pairs("x"), pairs("y")], { x: {}, y: {} }).starts).toEqual(["x"]);
  });

  test("does not stop the newest job's running tasks", () => {
    const running = { id: "y1", job: "y", slots: 1, placement: on({ a: 1 }) };
    const decision = pass({ a: 2 }, [pairs("x"), running, { ...pairs("y"), id: "y2" }], {
      x: {},
      y: {},
    });
    expect(decision.releases).toEqual([]);
  });
});

describe("a job", () => {
  test("stops its oldest preemptible tasks when it uses more than its offer, for a job that gains", () => {
    const queue = exampleQueue(
      { a: 4 },
      [
        { id: "firm", job: "x", preemptible: false, placement: on({ a: 1 }) },
        ...tasksOf("x", 3, on({ a: 1 })),
        ...tasksOf("y", 2),
      ],
      { x: {}, y: {} },
    );
    const { starts, releases } = fairShareSchedule(queue, { policy: "best", heterogeneous: false });
    expect({ starts, releases }).toEqual({
      starts: [],
      releases: [
        { task: "x0", by: "y0" },
        { task: "x1", by: "y0" },
      ],
    });
  });

  test("starts the tasks that fit in the rest of its offer, even behind a task that does not fit", () => {
    const tasks = [{ id: "pair", job: "x", slots: 3 }, ...tasksOf("x", 2), ...tasksOf("y", 2)];
    const { starts } = pass({ a: 4 }, tasks, { x: {}, y: {} });
    expect(starts.toSorted()).toEqual(["x0", "x1", "y0", "y1"]);
  });

  test("starts its tasks without slots if they fit, whatever its share", () => {
    const slotless = ["1", "2"].map((id) => ({ id, job: "x", slots: 0 }));
    expect(pass({ a: { slotlessMax: 1 } }, slotless, { x: { weight: 0 } }).starts).toEqual(["1"]);
  });
});
