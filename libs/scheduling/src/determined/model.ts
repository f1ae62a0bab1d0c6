/** The pool as Determined's rules see it: plain data, which a pass reads and never changes. */

export type DeterminedAgent = {
  readonly id: string;
  /** Its enabled slots, also those in use. */
  readonly slots: number;
  readonly usedSlots: number;
  /** The most tasks without slots beside each other. */
  readonly slotlessMax: number;
  readonly slotless: number;
  /** An agent that is disabled, drained or away takes no tasks. */
  readonly takesWork: boolean;
};

export type DeterminedTask = {
  readonly id: string;
  readonly job: string;
  /** 0 for a task that runs beside others. */
  readonly slots: number;
  readonly preemptible: boolean;
  readonly singleAgent: boolean;
  readonly blockedAgents: readonly string[];
  /** When its job was submitted and when it was requested, in any unit: only the order matters. */
  readonly jobSubmitted: number;
  readonly requested: number;
  /** The agents that it runs on; null while it waits. */
  readonly placement: readonly Part[] | null;
};

/** A part of a task on one agent; without slots, it takes one of the places for such tasks. */
export type Part = { readonly agent: string; readonly slots: number };

export type DeterminedJob = {
  /** 1 is the best, 99 the worst; the priority scheduler ignores tasks of jobs without one. */
  readonly priority: number | null;
  readonly weight: number;
  /** Limits fair share and autoscaling; null for no limit. */
  readonly maxSlots: number | null;
};

export type Queue = {
  readonly agents: readonly DeterminedAgent[];
  readonly tasks: readonly DeterminedTask[];
  readonly jobs: ReadonlyMap<string, DeterminedJob>;
  /** The positions of the jobs; smaller is nearer the head, 0 if absent. */
  readonly positions: ReadonlyMap<string, number>;
};

export type FitRules = {
  /** The agent with the fewest empty slots that suffice, or with the largest empty share. */
  readonly policy: "best" | "worst";
  /** Whether a task may get whole agents of different sizes. */
  readonly heterogeneous: boolean;
};

export type Start = {
  readonly task: string;
  readonly parts: readonly Part[];
  /** Something of a better priority does not fit. */
  readonly backfilled: boolean;
};

/** A task that is to stop, and a waiting one that needs its slots; empty where a limit is the reason. */
export type Release = { readonly task: string; readonly by: string };

export type Decision = { readonly starts: readonly Start[]; readonly releases: readonly Release[] };
