import type { EventData } from "@trainyard/contracts";
import type { StopWhy } from "@trainyard/contracts/events";
import type { EndRun, Left } from "../trial/commands.ts";
import type { TryDelays } from "../trial/tries.ts";

export type EndTaskRun = Omit<EndRun, "startDamaged" | "timeLimited"> & {
  /** The reason of the last stop that the scheduler asked the run for; null for none. */
  readonly stopWhy: StopWhy | null;
  /** The delays of runs that follow a failed one. */
  readonly delays: TryDelays;
  /** The sentence why the task's folder is not saved, and where it is; absent if it is saved. */
  readonly unsaved?: string;
};

/** Requests the next run of an open task that has none, once nothing is waited for. */
export type RequestTaskRun = {
  readonly kind: "request_run";
  /** The latest save that is complete, intact and kept; null for none. */
  readonly from: { readonly checkpoint: string; readonly step: number } | null;
  readonly delays: TryDelays;
};

export type NoteSave = {
  readonly kind: "note_save";
  readonly saved: EventData<"TaskSaved">;
};

export type TaskCommand =
  | { readonly kind: "create"; readonly created: EventData<"TaskCreated"> }
  | {
      readonly kind: "start_run";
      readonly run: number;
      readonly allocation: string;
      readonly atMs: number;
    }
  | EndTaskRun
  | RequestTaskRun
  | NoteSave
  /** An agent that has reconnected names the saves that the run has left on it. */
  | { readonly kind: "name_saves"; readonly run: number; readonly left: Left }
  /** The upload of a left save made progress at this time. */
  | {
      readonly kind: "await_upload";
      readonly run: number;
      readonly checkpoint: string;
      readonly atMs: number;
    }
  | { readonly kind: "kill"; readonly reason: string }
  | { readonly kind: "pause"; readonly reason: string }
  | { readonly kind: "resume" }
  | { readonly kind: "delete" };
