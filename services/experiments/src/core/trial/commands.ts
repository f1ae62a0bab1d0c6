import type { EventData, Plain } from "@trainyard/contracts";
import type {
  Exit,
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
  /** The undelivered rest; absent when its agents have delivered everything. */
  readonly left?: Left;
  /** It ended because its time was over. */
  readonly timeLimited?: boolean;
  /** Present if the platform could not start it; says where. */
  readonly launchFailure?: Plain<LaunchFailure>;
};

/** Checkpoints that agents have yet to deliver, and when that was said. */
export type Left = { readonly sealed: readonly Plain<SealedCheckpoint>[]; readonly atMs: number };

export type RequestRun = {
  readonly kind: "request_run";
  readonly experiment: string;
  readonly resources: Plain<Resources>;
  /** The workspace of the experiment; empty for none. */
  readonly workspace: string;
  readonly owner: string;
  /** Null to start from nothing. */
  readonly from: { readonly checkpoint: string; readonly step: number } | null;
};

export type TrialCommand =
  | { readonly kind: "create"; readonly created: EventData<"TrialCreated"> }
  | RequestRun
  | { readonly kind: "start_run"; readonly run: number; readonly allocation: string }
  | { readonly kind: "stop_run"; readonly stop: Stop }
  | EndRun
  /** An agent that came back says what a run has left there. */
  | { readonly kind: "name_checkpoints"; readonly run: number; readonly left: Left }
  /** A checkpoint that the run has left is being uploaded, and moved at this time. */
  | {
      readonly kind: "await_upload";
      readonly run: number;
      readonly checkpoint: string;
      readonly atMs: number;
    }
  | { readonly kind: "note_checkpoint"; readonly noted: Checkpoint }
  /** The search cannot make anything of the trial: it fails, also where it had finished before anybody could say so. */
  | { readonly kind: "fail_finished"; readonly reason: string }
  /** Its experiment continues, and takes it up. */
  | { readonly kind: "continue"; readonly continuation: number }
  | { readonly kind: "kill"; readonly reason: string }
  | { readonly kind: "end"; readonly outcome: TrialOutcome; readonly reason: string };
