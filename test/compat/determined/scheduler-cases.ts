/** Cases of Determined's schedulers: passes over a pool, and their description of the queue. */
import type { JsonObject } from "@trainyard/experiment-config";
import {
  compareRequests,
  compatProblem,
  type DeterminedTask,
  isPriorityWithinLimit,
  priorityClasses,
} from "@trainyard/scheduling/determined";
import { settingsOf } from "@trainyard/scheduling";
import type { Case } from "./case-file.ts";
import { type Fields, inOrder, mapping, mappings, numberOr, texts } from "./read-case.ts";
import { difference } from "./same.ts";
import { ScheduledPool } from "./scheduled-pool.ts";

/** Runs one step after the other, until one differs from the expectation. */
function passes(one: Case): string | null {
  const pool = new ScheduledPool(one);
  for (const [at, step] of mappings(one["steps"]).entries()) {
    const found = stepDifference(pool, step);
    if (found !== null) return `step ${at + 1}: ${found}`;
  }
  return null;
}

function stepDifference(pool: ScheduledPool, step: JsonObject): string | null {
  if (step["queue_positions"] !== undefined) pool.setPositions(mapping(step["queue_positions"]));
  switch (step["op"]) {
    case "schedule":
      return passDifference(pool, step);
    case "apply_allocations":
      pool.apply();
      return null;
    case "add_tasks":
      pool.submit(mappings(step["tasks"]));
      return null;
    case "finish_tasks":
      pool.finish(texts(step["tasks"]));
      return null;
    default:
      return `${JSON.stringify(step["op"])} is not a step that is known here`;
  }
}

function passDifference(pool: ScheduledPool, expected: Fields): string | null {
  const before = JSON.stringify(pool.queue);
  const { starts, releases } = pool.schedule();
  if (JSON.stringify(pool.queue) !== before) return "the pass has changed the pool";
  const setDifference = (ids: readonly string[], key: string): string | null =>
    expected[key] === undefined
      ? null
      : difference(inOrder(ids), inOrder(expected[key]), key.replace("expect_", ""));
  const started = starts.map(({ task }) => task);
  const released = releases.map(({ task }) => task);
  return setDifference(started, "expect_allocate") ?? setDifference(released, "expect_release");
}

/** Runs the steps of a case, such as `schedule, apply, schedule`; returns the first difference. */
function drive(pool: ScheduledPool, asked: Fields): string | null {
  if (asked["queue_positions"] !== undefined) pool.setPositions(mapping(asked["queue_positions"]));
  pool.submit(mappings(asked["add_tasks"]));
  const steps = String(asked["do"]).split(/,\s*/);
  const last = steps.lastIndexOf("schedule");
  for (const [at, step] of steps.entries()) {
    if (step === "apply") pool.apply();
    else if (step !== "schedule") return `${step} is not a step that is known here`;
    else {
      const found = passDifference(pool, at === last ? asked : {});
      if (found !== null) return found;
    }
  }
  return null;
}

function stats(one: Case): string | null {
  const pool = new ScheduledPool(one);
  const found = drive(pool, one);
  const { queuedJobs, scheduledJobs } = pool.stats;
  const shown = { queued_jobs: queuedJobs, scheduled_jobs: scheduledJobs };
  return found ?? difference(shown, one["expect_stats"]);
}

function jobOrder(one: Case): string | null {
  const pool = new ScheduledPool(one);
  for (const stage of [one, mapping(one["then"])]) {
    if (stage["do"] === undefined) continue;
    const found = drive(pool, stage) ?? jobsDifference(pool, stage);
    if (found !== null) return found;
  }
  return null;
}

function jobsDifference(pool: ScheduledPool, stage: Fields): string | null {
  const { jobs } = pool;
  for (const [id, expected] of Object.entries(mapping(stage["expect_jobs"]))) {
    const info = jobs.find(({ job }) => job === id);
    if (info === undefined) return `${id} is not in the queue`;
    const shown: JsonObject = {
      state: info.isScheduled ? "SCHEDULED" : "QUEUED",
      jobs_ahead: info.jobsAhead,
      allocated_slots: info.allocatedSlots,
      requested_slots: info.requestedSlots,
    };
    for (const [key, value] of Object.entries(mapping(expected))) {
      const found = difference(shown[key], value, `${id}.${key}`);
      if (found !== null) return found;
    }
  }
  const count = stage["expect_num_jobs"];
  return count === undefined ? null : difference(jobs.length, count, "number of jobs");
}

const AGES: Readonly<Record<string, number>> = { older: 0, now: 1 };

function taskOrder(one: Case): string | null {
  const scheduled = texts(one["scheduled"]);
  const asked = mappings(one["tasks"]);
  const tasks = asked.map(({ id, slots, submitted }): DeterminedTask => {
    const age = AGES[String(submitted)] ?? Number(submitted);
    return {
      id: String(id),
      job: String(id),
      slots: Number(slots),
      preemptible: true,
      singleAgent: false,
      blockedAgents: [],
      jobSubmitted: age,
      requested: age,
      placement: scheduled.includes(String(id)) ? [] : null,
    };
  });
  const jobs = new Map(
    asked.map(({ id, priority }) => [
      String(id),
      { priority: Number(priority), weight: 0, maxSlots: null },
    ]),
  );
  const classes = priorityClasses(
    { agents: [], tasks, jobs, positions: new Map() },
    one["filter"] === "zero_slot" ? "slotless" : "slotted",
  );
  const shown = classes.map(({ priority, waiting, placed }) => [
    priority,
    (one["which"] === "scheduled" ? placed : waiting).map(({ id }) => id),
  ]);
  return difference(Object.fromEntries(shown), one["expect"]);
}

function requestComparator(one: Case): string | null {
  const [a, b] = [mapping(one["a"]), mapping(one["b"])].map((times) => ({
    jobSubmitted: numberOr(times["job_submitted"], 0),
    requested: numberOr(times["requested"], 0),
    id: String(times["id"] ?? times["allocation_id"] ?? ""),
  }));
  if (a === undefined || b === undefined) return "it compares nothing";
  return difference(compareRequests(a, b), one["expect"]);
}

function deprecated(one: Case): string | null {
  const { type } = mapping(mapping(one["config"])["scheduler"]);
  const settings = settingsOf(String(type), { compat: "determined" });
  const verdict = compatProblem(settings) === null ? "ok" : "error";
  return difference(verdict, one["expect"]);
}

function priorityWithinLimit(one: Case): string | null {
  const limit = one["admin_limit"];
  const isWithin = isPriorityWithinLimit(
    Number(one["user_priority"]),
    typeof limit === "number" ? limit : null,
    one["smaller_is_higher"] === true,
  );
  return difference(isWithin, one["expect"]);
}

export const schedulerChecks: Readonly<Record<string, (one: Case) => string | null>> = {
  fair_share: passes,
  priority: passes,
  task_order: taskOrder,
  request_comparator: requestComparator,
  job_stats: stats,
  job_order: jobOrder,
  deprecated,
  priority_within_limit: priorityWithinLimit,
};
