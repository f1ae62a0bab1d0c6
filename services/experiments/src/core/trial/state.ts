/**
 * A trial's life: none → open → ended. A continuation of its experiment leads from ended back to open. A completed
 * trial may later be recorded as failed, once, if its reports were invalid.
 *
 * An open trial has at most one unended run; runs are numbered from 1. The stream also records the complete checkpoints
 * that later runs may start from (TrialCheckpointed). They are those of the line of runs that leads to the newest one,
 * also if they complete after its end, provided that they were named then. A run that starts from step s drops all
 * checkpoints and measurements beyond s. Checkpoints that an older run completes after that are not part of the line.
 */
import type { EventOf } from "@trainyard/contracts";
import type {
  Fault,
  RunEndWhy,
  StopMode,
  StopWhy,
  TrialOutcome,
} from "@trainyard/contracts/events";
import type { Tries } from "./tries.ts";

export type TrialEvent = EventOf<
  | "TrialCreated"
  | "RunRequested"
  | "RunStarted"
  | "RunStopRequested"
  | "RunStopWithdrawn"
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
  /** The cause of the failure; absent if the run finished, was stopped or was withdrawn. */
  readonly fault?: Fault;
};

export type TrialState = {
  readonly status: "none" | "open" | "ended";
  /** A checkpoint of another trial that the first run starts from; empty for none. */
  readonly warmStart: string;
  /**
   * The number of its steps that count as this trial's. 0: the trial counts from 0, whatever the other trial had done.
   */
  readonly warmStartStep: number;
  /** The highest number of a requested run. */
  readonly runs: number;
  readonly unended: {
    readonly started: boolean;
    /** Absent until the run has started. */
    readonly startedAtMs?: number | undefined;
    readonly stop: Stop | null;
    /** The checkpoint that the run starts from; empty for none. */
    readonly from: string;
  } | null;
  readonly lastEnd: LastEnd | null;
  readonly tries: Tries;
  /** The checkpoints by step, the latest last; at most `limits.checkpointsRemembered`. */
  readonly checkpoints: readonly Checkpoint[];
  /** The checkpoints that the newest run has left and that are not complete, as far as the stream records. */
  readonly named: readonly string[];
  /** The next run waits for the named checkpoints until this time; 0 for none. */
  readonly awaitedUntilMs: number;
  /** The reason of a person who has the trial killed; absent for none. */
  readonly kill?: string | undefined;
  /** The latest continuation that included the trial, and its number of runs at that time; absent for none. */
  readonly continued?: { readonly continuation: number; readonly runs: number };
  readonly end: { readonly outcome: TrialOutcome; readonly reason: string } | null;
};
