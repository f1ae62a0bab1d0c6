import { expect, test } from "vitest";
import { isPriorityWithinLimit, jobQueue, jobStats, priorityClasses } from "./order.ts";
import { exampleQueue, on } from "./testing/examples.ts";

const waitingOf = (...queue: Parameters<typeof exampleQueue>) =>
  priorityClasses(exampleQueue(...queue), "slotted").map(({ priority, waiting }) => [
    priority,
    waiting.map(({ id }) => id),
  ]);

test("tasks are ordered by priority, then the job's position, the job's submission and the task's request", () => {
  const tasks = [
    { id: "late job", job: "a", jobSubmitted: 9, requested: 1 },
    { id: "later request", job: "b", jobSubmitted: 1, requested: 8 },
    { id: "earlier request", job: "b", jobSubmitted: 1, requested: 7 },
    { id: "behind by position", job: "c", jobSubmitted: 0 },
    { id: "best priority", job: "d", jobSubmitted: 10 },
  ];
  const jobs = { a: {}, b: {}, c: {}, d: { priority: 1 } };
  expect(waitingOf({}, tasks, jobs, { a: 2, b: 2, c: 3, d: 4 })).toEqual([
    [1, ["best priority"]],
    [42, ["earlier request", "later request", "late job", "behind by position"]],
  ]);
});

test("tasks of jobs without a priority are ignored", () => {
  expect(waitingOf({}, [{ id: "a" }], { j: { priority: null } })).toEqual([]);
  expect(waitingOf({}, [{ id: "a", job: "unknown" }])).toEqual([]);
});

test("a job is scheduled once one of its tasks is, and reports how many jobs are ahead", () => {
  const tasks = [
    { id: "1", job: "a", slots: 2 },
    { id: "2", job: "a", slots: 1, placement: on({ x: 1 }) },
    { id: "3", job: "b", slots: 4 },
    { id: "4", job: "c", slots: 0 },
  ];
  const queue = exampleQueue({ x: 4 }, tasks, { a: {}, b: { priority: 1 }, c: {} });
  expect(jobQueue(queue, "priority")).toEqual([
    { job: "b", isScheduled: false, jobsAhead: 0, requestedSlots: 4, allocatedSlots: 0 },
    { job: "a", isScheduled: true, jobsAhead: 1, requestedSlots: 3, allocatedSlots: 1 },
    { job: "c", isScheduled: false, jobsAhead: 2, requestedSlots: 0, allocatedSlots: 0 },
  ]);
  expect(jobQueue(queue, "fair_share").map(({ job, jobsAhead }) => [job, jobsAhead])).toEqual([
    ["a", -1],
    ["b", -1],
    ["c", -1],
  ]);
  expect(jobStats(queue.tasks)).toEqual({ queuedJobs: 2, scheduledJobs: 1 });
});

test("a user's priority may equal the administrator's limit, but not be better", () => {
  expect(isPriorityWithinLimit(5, 5, true)).toBe(true);
  expect(isPriorityWithinLimit(4, 5, true)).toBe(false);
  expect(isPriorityWithinLimit(4, 5, false)).toBe(true);
  expect(isPriorityWithinLimit(6, 5, false)).toBe(false);
  expect(isPriorityWithinLimit(99, null, true)).toBe(true);
});
