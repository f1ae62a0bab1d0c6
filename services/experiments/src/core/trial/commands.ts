import type { EventData, Plain } from "@trainyard/contracts";
import type {
  Exit,
  Fault,
  LaunchFailure,
  Resources,
  RunEndWhy,
  SealedCheckpoint,
  TrialOutcome,
} from "@trainyard/contracts/events";
import type { Checkpoint, Stop } from "./state.ts";

export type EndRun = {
  readonly kind: "end_run";
  readonly run: number;
  readonly why: RunEndWhy;
  readonly exits: readonly Plain<Exit>[];
  readonly message: string;
  /** The checkpoints that agents have not delivered; absent if none are left. */
  readonly left?: Left;
  /** The time of the end, by the log's clock. */
  readonly atMs: number;
  /** The cause of the failure; absent if the run finished, was stopped or was withdrawn. */
  readonly fault?: Fault;
  /** The agents on which the run failed, as far as they are known. */
  readonly agents: readonly string[];
  /** Whether the run ended because of its time limit. */
  readonly timeLimited?: boolean;
  /** Whether the checkpoint that the run started from is recorded as damaged. */
  readonly startDamaged?: boolean;
  /** The place where the launch failed; absent if the run was launched. */
  readonly launchFailure?: Plain<LaunchFailure>;
};

/** The checkpoints that agents have yet to deliver, and the time of that report. */
export type Left = { readonly sealed: readonly Plain<SealedCheckpoint>[]; readonly atMs: number };

export type RequestRun = {
  readonly kind: "request_run";
  readonly experiment: string;
  readonly resources: Plain<Resources>;
  /** The workspace of the experiment. */
  readonly workspace: string;
  readonly owner: string;
  /** The checkpoint to start from; null to start without one. */
  readonly from: { readonly checkpoint: string; readonly step: number } | null;
  /** The latest checkpoint of the trial, if the run does not start from it because it is damaged. */
  readonly damaged?: string;
  /** The scheduler places the run this much later, because the last run failed; 0 for no delay. */
  readonly delayMs: number;
};

export type TrialCommand =
  | { readonly kind: "create"; readonly created: EventData<"TrialCreated"> }
  | RequestRun
  | {
      readonly kind: "start_run";
      readonly run: number;
      readonly allocation: string;
      readonly atMs: number;
    }
  | { readonly kind: "stop_run"; readonly stop: Stop }
  /** The reason of the run's graceful stop is gone. */
  | { readonly kind: "withdraw_stop" }
  | EndRun
  /** An agent that has reconnected names the checkpoints that the run has left on it. */
  | { readonly kind: "name_checkpoints"; readonly run: number; readonly left: Left }
  /** The upload of a left checkpoint made progress at this time. */
  | {
      readonly kind: "await_upload";
      readonly run: number;
      readonly checkpoint: string;
      readonly atMs: number;
    }
  | { readonly kind: "note_checkpoint"; readonly noted: Checkpoint }
  /** The search cannot use the trial's reports: the trial fails, even if it had finished before. */
  | { readonly kind: "fail_finished"; readonly reason: string }
  /** A continuation of the experiment includes the trial. */
  | { readonly kind: "continue"; readonly continuation: number }
  | { readonly kind: "kill"; readonly reason: string }
  | { readonly kind: "end"; readonly outcome: TrialOutcome; readonly reason: string };
