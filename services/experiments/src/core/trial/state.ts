/**
 * A trial's life: none → open → ended, from where a continuation of its experiment leads back to open. What had
 * completed may be recorded as failed after that, once: its reports were bad. An open trial has at most one unended
 * run; runs are numbered from 1.
 *
 * Its stream also knows the complete checkpoints that later runs may start from (TrialCheckpointed): those of the line
 * of runs that leads to the newest one, also when they are complete only after its end, as long as they were named
 * then. A run that starts from step s cuts off what is beyond s, for checkpoints as for measurements, and what an
 * older run still completes after that is not of the line any more.
 */
import type { EventOf } from "@trainyard/contracts";
import type { RunEndWhy, StopMode, StopWhy, TrialOutcome } from "@trainyard/contracts/events";

export type TrialEvent = EventOf<
  | "TrialCreated"
  | "RunRequested"
  | "RunStarted"
  | "RunStopRequested"
  | "RunEnded"
  | "RunCheckpointsNamed"
  | "TrialCheckpointed"
  | "TrialEnded"
  | "TrialContinued"
  | "TrialKillRequested"
>;

export type Stop = { readonly mode: StopMode; readonly why: StopWhy; readonly graceMs: number };

export type Checkpoint = {
  readonly checkpoint: string;
  readonly run: number;
  readonly step: number;
};

export type LastEnd = {
  readonly run: number;
  readonly why: RunEndWhy;
  readonly message: string;
  readonly countsAsRestart: boolean;
};

export type Unlaunched = {
  /** How many failed, except where a service of the platform did not answer. */
  readonly attempts: number;
  /** On which agents these failed, each once. */
  readonly agents: readonly string[];
  /** Those, and the ones where it waited for such a service. */
  readonly avoid: readonly string[];
};

export type TrialState = {
  readonly status: "none" | "open" | "ended";
  /** A checkpoint of another trial that the first run starts from; empty for none. */
  readonly warmStart: string;
  /** How many of its steps are this trial's own: 0 where the trial counts again, whatever the other one had done. */
  readonly warmStartStep: number;
  /** The highest number of a run that was requested. */
  readonly runs: number;
  readonly unended: { readonly started: boolean; readonly stop: Stop | null } | null;
  readonly lastEnd: LastEnd | null;
  /** The latest run whose end counts as a restart; absent where none has. */
  readonly lastFailure?: Pick<LastEnd, "run" | "message"> | undefined;
  /** Runs that were requested because the one before failed. */
  readonly restarts: number;
  /** Runs in a row that the platform lost before they started. */
  readonly launchFailures: number;
  /** Launches in a row that failed; absent where the last one did not. */
  readonly unlaunched?: Unlaunched | undefined;
  /** The checkpoints by step, the latest last; at most `limits.checkpointsRemembered`. */
  readonly checkpoints: readonly Checkpoint[];
  /** The checkpoints of the newest run that are not complete, as far as its stream knows. */
  readonly named: readonly string[];
  /** The next run waits for those until then at the latest; 0 for none. */
  readonly awaitedUntilMs: number;
  /** Why a person has it killed; absent where nobody does. */
  readonly kill?: string | undefined;
  /** The latest continuation that took it up again, and the number of its runs then; absent before the first one. */
  readonly continued?: { readonly continuation: number; readonly runs: number };
  readonly end: { readonly outcome: TrialOutcome; readonly reason: string } | null;
};
