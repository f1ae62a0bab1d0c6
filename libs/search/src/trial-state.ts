import type { TrialOutcome } from "@trainyard/contracts/events";
import type { Times } from "./persistent/times.ts";

/** failed: stopped, to count as failed. */
export type TrialWanted = "run" | "suspended" | "stopped" | "failed";

export type TrialState = {
  readonly wanted: TrialWanted;
  /** 0 (unspecified) while it has not ended. */
  readonly outcome: TrialOutcome;
  /** The best finite value of the metric that it reported; null for none. */
  readonly best: number | null;
  /** The version of the search at which `best` was recorded: of two equal values the earlier is the better. */
  readonly bestAt: number;
  /** The times at which it was observed, as far as they came in increasing order. */
  readonly times: Times;
  /** The times that came out of order, which only a restarted run with another rhythm has. */
  readonly lateTimes: readonly number[];
  /** The run that was observed last, and the last time that it reported: within a run time does not go back. */
  readonly run: number;
  readonly runTime: number;
  /** The last observation's measurement, to tell a delivery that is repeated. */
  readonly measurement: string;
};
