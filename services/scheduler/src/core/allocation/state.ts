/**
 * An allocation's life: none → queued → granted → started → ended; granted may end without having started, and queued
 * may be withdrawn. A stop is only made more severe; the trial may withdraw its own graceful stop while the run has not
 * acknowledged it.
 */
import type { EventData, EventOf, Plain } from "@trainyard/contracts";
import type {
  EndRecord,
  Exit,
  Fault,
  LaunchFailure,
  PassedRun,
  Placement,
  SealedCheckpoint,
  StartRecord,
} from "@trainyard/contracts/events";
import type { AllocationEndCause, StopMode, StopWhy, WaitCode } from "@trainyard/contracts/events";

export type AllocationEvent = EventOf<
  | "AllocationQueued"
  | "WaitExplained"
  | "AllocationGranted"
  | "AllocationStarted"
  | "AllocationStopRequested"
  | "AllocationStopWithdrawn"
  | "AllocationStopAcknowledged"
  | "AllocationEnded"
>;

export type Stop = { readonly mode: StopMode; readonly why: StopWhy; readonly graceMs: number };

export type AllocationState = {
  readonly status: "none" | "queued" | "granted" | "started" | "ended";
  readonly wait: { readonly code: WaitCode; readonly limit: string | null } | null;
  /** The last stop. */
  readonly stop: Stop | null;
  /** The last stop that the scheduler requested itself. */
  readonly ownStop: Stop | null;
  /** The last stop that the trial requested and has not withdrawn. */
  readonly trialStop: Stop | null;
  /** The trial's stop that was withdrawn last. */
  readonly withdrawnStop: Stop | null;
  readonly stopAcknowledged: boolean;
};

export type AllocationCommand =
  | { readonly kind: "queue"; readonly queued: EventData<"AllocationQueued"> }
  | {
      readonly kind: "explain";
      readonly code: WaitCode;
      readonly detail: string;
      readonly limit: string | null;
    }
  | {
      readonly kind: "grant";
      readonly placements: readonly Plain<Placement>[];
      readonly masterAddress: string;
      readonly masterPort: number;
      readonly tokenKey: string;
      /** The log position up to which the placement pass had folded. */
      readonly folded: number;
      /** The slots that its workspace has borrowed. */
      readonly borrowed: number;
      /** The first run of the queue, if its being passed has to be recorded. */
      readonly passed?: Plain<PassedRun>;
    }
  | { readonly kind: "start"; readonly starts: readonly Plain<StartRecord>[] }
  | {
      readonly kind: "stop";
      readonly mode: StopMode;
      readonly why: StopWhy;
      readonly graceMs: number;
      /** The allocation that gets the slots. */
      readonly by?: string;
    }
  /** The trial does not want the run to stop any more. */
  | { readonly kind: "withdraw_stop" }
  /** An agent has sent SIGTERM to the run's processes. */
  | { readonly kind: "acknowledge_stop" }
  | {
      readonly kind: "end";
      readonly cause: AllocationEndCause;
      readonly exits: readonly Plain<Exit>[];
      readonly endRecord: Plain<EndRecord> | null;
      readonly launchFailure?: Plain<LaunchFailure>;
      readonly message: string;
      /** The checkpoints that its agents have yet to deliver. */
      readonly sealed?: readonly Plain<SealedCheckpoint>[];
      /** The key of the last validation that the run recorded; empty for none. Absent if nobody saw its end. */
      readonly lastValidation?: string;
      /** The cause of a failed end; absent for successes and stops. */
      readonly fault?: Fault;
      /** The sentence why the folder of a task is not saved, and where it is; absent if it is saved. */
      readonly unsaved?: string;
    };
