/**
 * An agent's life: none → present ⇄ lost; removed from any, and it joins anew when it reports again. Present and lost
 * say whether it is heard, not what it runs: what a lost agent occupies stays occupied until it says otherwise.
 */
import type { EventData, EventOf, Plain } from "@trainyard/contracts";
import type { Occupation, RunCheckpoints, Slot } from "@trainyard/contracts/events";
import type { Holder } from "./holder.ts";
import type { Use, UseCommand, UseEvent } from "./use.ts";

export type AgentEvent =
  | UseEvent
  | EventOf<
      | "AgentJoined"
      | "AgentLost"
      | "AgentReturned"
      | "SlotsCleared"
      | "AgentNameRefused"
      | "AgentNameCleared"
      | "SchedulerEpochRaised"
      | "AgentRemoved"
      | "AgentDistrusted"
      | "AgentTrusted"
      | "AgentDiskLow"
      | "AgentDiskFreed"
      | "ProcessesLeft"
    >;

export type AgentState = Use & {
  readonly status: "none" | "present" | "lost" | "removed";
  readonly joined: EventData<"AgentJoined"> | null;
  /** Launches that failed there are on record, and no run has started since. */
  readonly distrusted: boolean;
  readonly diskLow: boolean;
  /** Whether another that asks for the name is on record. */
  readonly refuses: boolean;
  /** How far ahead of its lease this agent has made the scheduler count. */
  readonly epochOffset: number;
};

export type AgentCommand =
  | UseCommand
  /** `runs`: those that have a place there, or may still run there. */
  | { readonly kind: "remove"; readonly reason: string; readonly runs: readonly string[] }
  | { readonly kind: "join"; readonly joined: EventData<"AgentJoined"> }
  | { readonly kind: "lose"; readonly reason: string }
  | {
      readonly kind: "return";
      readonly occupations: readonly Plain<Occupation>[];
      readonly slots: readonly Plain<Slot>[];
      /** The checkpoints that runs that were given up have stored there. */
      readonly left?: readonly Plain<RunCheckpoints>[];
      readonly holder?: Holder;
    }
  | {
      readonly kind: "refuse";
      readonly folder: string;
      readonly place: string;
      readonly address: string;
      readonly reason: string;
    }
  | { readonly kind: "refuse_nobody" }
  | {
      readonly kind: "raise_epoch";
      readonly from: number;
      readonly to: number;
      readonly leaseEpoch: number;
    }
  | { readonly kind: "distrust"; readonly distrusted: EventData<"AgentDistrusted"> }
  | { readonly kind: "trust"; readonly reason: string }
  | { readonly kind: "note_disk"; readonly low: boolean; readonly freeBytes: number }
  | { readonly kind: "note_left"; readonly allocation: string; readonly message: string }
  | { readonly kind: "clear"; readonly allocation: string; readonly slots: readonly string[] };
