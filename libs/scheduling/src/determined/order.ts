/** The order in which Determined visits tasks and jobs, and its figures about the queue. */
import type { DeterminedTask, Queue } from "./model.ts";

type Times = Pick<DeterminedTask, "jobSubmitted" | "requested"> & { readonly id?: string };

/** Compares by the job's submission, then by the task's request; negative if `a` is ahead. */
export function compareRequests(a: Times, b: Times): number {
  if (a.jobSubmitted !== b.jobSubmitted) return a.jobSubmitted < b.jobSubmitted ? -1 : 1;
  if (a.requested !== b.requested) return a.requested < b.requested ? -1 : 1;
  const [first, second] = [a.id ?? "", b.id ?? ""];
  return first === second ? 0 : first < second ? -1 : 1;
}

export function positionOf(task: DeterminedTask, positions: Queue["positions"]): number {
  return positions.get(task.job) ?? 0;
}

/** Compares tasks of equal priority: by the job's position, then by time. */
function compareInQueue(a: DeterminedTask, b: DeterminedTask, positions: Queue["positions"]) {
  return positionOf(a, positions) - positionOf(b, positions) || compareRequests(a, b);
}

export type Kind = "slotted" | "slotless";

export type PriorityClass = {
  readonly priority: number;
  readonly waiting: readonly DeterminedTask[];
  readonly placed: readonly DeterminedTask[];
};

/**
 * The tasks of a kind by priority, the best first, and in queue order; a priority without tasks of this kind is empty.
 */
export function priorityClasses(queue: Queue, kind: Kind): readonly PriorityClass[] {
  const classes = Map.groupBy(prioritised(queue), ({ priority }) => priority);
  return [...classes]
    .sort(([a], [b]) => a - b)
    .map(([priority, members]) => {
      const tasks = members
        .map(({ task }) => task)
        .filter(({ slots }) => (slots === 0) === (kind === "slotless"))
        .sort((a, b) => compareInQueue(a, b, queue.positions));
      return {
        priority,
        waiting: tasks.filter(({ placement }) => placement === null),
        placed: tasks.filter(({ placement }) => placement !== null),
      };
    });
}

function prioritised({ tasks, jobs }: Queue): { task: DeterminedTask; priority: number }[] {
  return tasks.flatMap((task) => {
    const priority = jobs.get(task.job)?.priority ?? null;
    return priority === null ? [] : [{ task, priority }];
  });
}

export type JobInfo = {
  readonly job: string;
  readonly isScheduled: boolean;
  /** The number of jobs ahead in the queue; -1 under fair share, which has no queue. */
  readonly jobsAhead: number;
  readonly requestedSlots: number;
  readonly allocatedSlots: number;
};

/** The jobs that have tasks, in queue order. */
export function jobQueue(queue: Queue, policy: "priority" | "fair_share"): readonly JobInfo[] {
  const ordered =
    policy === "fair_share"
      ? [...queue.tasks].sort(compareRequests)
      : prioritised(queue)
          .sort(
            (a, b) => a.priority - b.priority || compareInQueue(a.task, b.task, queue.positions),
          )
          .map(({ task }) => task);
  const slotsOf = (tasks: readonly DeterminedTask[]): number =>
    tasks.reduce((sum, { slots }) => sum + slots, 0);
  return [...Map.groupBy(ordered, ({ job }) => job)].map(([job, tasks], place) => {
    const placed = tasks.filter(({ placement }) => placement !== null);
    return {
      job,
      isScheduled: placed.length > 0,
      jobsAhead: policy === "fair_share" ? -1 : place,
      requestedSlots: slotsOf(tasks),
      allocatedSlots: slotsOf(placed),
    };
  });
}

/** Counts queued and scheduled jobs; a job is scheduled once one of its tasks is. */
export function jobStats(tasks: readonly DeterminedTask[]): {
  readonly queuedJobs: number;
  readonly scheduledJobs: number;
} {
  const jobs = new Set(tasks.map(({ job }) => job));
  const scheduled = new Set(
    tasks.filter(({ placement }) => placement !== null).map(({ job }) => job),
  );
  return { queuedJobs: jobs.size - scheduled.size, scheduledJobs: scheduled.size };
}

/** Whether a user may set this priority under an administrator's limit; a null limit allows every priority. */
export function isPriorityWithinLimit(
  priority: number,
  limit: number | null,
  smallerIsHigher: boolean,
): boolean {
  if (limit === null) return true;
  return smallerIsHigher ? priority >= limit : priority <= limit;
}
