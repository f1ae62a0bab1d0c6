import type { EventData } from "@trainyard/contracts";
import type { StopWhy } from "@trainyard/contracts/events";
import type { EndRun } from "../trial/commands.ts";
import type { TryDelays } from "../trial/tries.ts";

export type EndTaskRun = Omit<EndRun, "left" | "startDamaged" | "timeLimited"> & {
  /** The reason of the last stop that the scheduler asked the run for; null for none. */
  readonly stopWhy: StopWhy | null;
  /** The delays of runs that follow a failed one. */
  readonly delays: TryDelays;
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
  | { readonly kind: "kill"; readonly reason: string }
  | { readonly kind: "pause"; readonly reason: string }
  | { readonly kind: "resume" }
  | { readonly kind: "delete" };
