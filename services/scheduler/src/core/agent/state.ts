/**
 * An agent's life: none → present ⇄ lost; removed from any. Present and lost say whether it is heard, not what it runs:
 * what a lost agent occupies stays occupied until it says otherwise.
 */
import type { EventData, EventOf, Plain } from "@trainyard/contracts";
import type { Occupation, RunCheckpoints, Slot } from "@trainyard/contracts/events";

export type AgentEvent = EventOf<
  | "AgentJoined"
  | "AgentLost"
  | "AgentReturned"
  | "SlotsCleared"
  | "AgentDrainRequested"
  | "AgentDrained"
  | "AgentRemoved"
  | "AgentDistrusted"
  | "AgentTrusted"
  | "AgentDiskLow"
  | "AgentDiskFreed"
  | "ProcessesLeft"
  | "SlotDisabled"
  | "SlotEnabled"
>;

export type AgentState = {
  readonly status: "none" | "present" | "lost" | "removed";
  readonly joined: EventData<"AgentJoined"> | null;
  /** Launches that failed there are on record, and no run has started since. */
  readonly distrusted: boolean;
  readonly diskLow: boolean;
};

export type AgentCommand =
  | { readonly kind: "join"; readonly joined: EventData<"AgentJoined"> }
  | { readonly kind: "lose"; readonly reason: string }
  | {
      readonly kind: "return";
      readonly occupations: readonly Plain<Occupation>[];
      readonly slots: readonly Plain<Slot>[];
      /** What runs that were given up have stored there. */
      readonly left?: readonly Plain<RunCheckpoints>[];
    }
  | { readonly kind: "distrust"; readonly distrusted: EventData<"AgentDistrusted"> }
  | { readonly kind: "trust"; readonly reason: string }
  | { readonly kind: "note_disk"; readonly low: boolean; readonly freeBytes: number }
  | { readonly kind: "note_left"; readonly allocation: string; readonly message: string }
  | { readonly kind: "clear"; readonly allocation: string; readonly slots: readonly string[] };
