/** The pool as input of Determined's rules: plain data, which a pass does not change. */

export type DeterminedAgent = {
  readonly id: string;
  /** The number of enabled slots, used ones included. */
  readonly slots: number;
  readonly usedSlots: number;
  /** The most tasks without slots that the agent runs at a time. */
  readonly slotlessMax: number;
  readonly slotless: number;
  /** An agent that is disabled, draining or disconnected takes no tasks. */
  readonly takesWork: boolean;
};

export type DeterminedTask = {
  readonly id: string;
  readonly job: string;
  /** The number of slots; 0 for a task that runs beside others. */
  readonly slots: number;
  readonly preemptible: boolean;
  readonly singleAgent: boolean;
  readonly blockedAgents: readonly string[];
  /** The times of the job's submission and the task's request, in any unit: only their order matters. */
  readonly jobSubmitted: number;
  readonly requested: number;
  /** The parts of the task on agents; null while the task waits. */
  readonly placement: readonly Part[] | null;
};

/** The part of a task on one agent; a part without slots counts toward the agent's `slotlessMax`. */
export type Part = { readonly agent: string; readonly slots: number };

export type DeterminedJob = {
  /** From 1, the best, to 99, the worst; the priority scheduler ignores the tasks of jobs without a priority. */
  readonly priority: number | null;
  readonly weight: number;
  /** The most slots of the job for fair share and autoscaling; null for no limit. */
  readonly maxSlots: number | null;
};

export type Queue = {
  readonly agents: readonly DeterminedAgent[];
  readonly tasks: readonly DeterminedTask[];
  readonly jobs: ReadonlyMap<string, DeterminedJob>;
  /** The positions of the jobs in the queue; smaller is nearer the head, and an absent job has position 0. */
  readonly positions: ReadonlyMap<string, number>;
};

export type FitRules = {
  /**
   * `best` takes the agent with the fewest empty slots that suffice, `worst` the one with the largest share of empty
   * slots.
   */
  readonly policy: "best" | "worst";
  /** Whether a task may be split over whole agents of different sizes. */
  readonly heterogeneous: boolean;
};

export type Start = {
  readonly task: string;
  readonly parts: readonly Part[];
  /** Whether the task was started although a task of better priority does not fit. */
  readonly backfilled: boolean;
};

/** A task to stop, and the waiting task that needs its slots; `by` is empty if a limit is the reason. */
export type Release = { readonly task: string; readonly by: string };

export type Decision = { readonly starts: readonly Start[]; readonly releases: readonly Release[] };
