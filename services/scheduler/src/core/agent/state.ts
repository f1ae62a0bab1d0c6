/**
 * An agent's life: none → present ⇄ lost; removed from any. Present and lost say whether it is heard, not what it runs:
 * what a lost agent occupies stays occupied until it says otherwise.
 */
import type { EventData, EventOf, Plain } from "@trainyard/contracts";
import type { Occupation, Slot } from "@trainyard/contracts/events";

import type { Holder } from "./holder.ts";

export type AgentEvent = EventOf<
  | "AgentJoined"
  | "AgentLost"
  | "AgentReturned"
  | "SlotsCleared"
  | "AgentDrainRequested"
  | "AgentDrained"
  | "AgentNameRefused"
  | "AgentNameCleared"
  | "SchedulerEpochRaised"
  | "AgentRemoved"
  | "SlotDisabled"
  | "SlotEnabled"
>;

export type AgentState = {
  readonly status: "none" | "present" | "lost" | "removed";
  readonly joined: EventData<"AgentJoined"> | null;
  /** Whether another that asks for the name is on record. */
  readonly refuses: boolean;
  /** How far ahead of its lease this agent has made the scheduler count. */
  readonly epochOffset: number;
};

export type AgentCommand =
  | { readonly kind: "join"; readonly joined: EventData<"AgentJoined"> }
  | { readonly kind: "lose"; readonly reason: string }
  | {
      readonly kind: "return";
      readonly occupations: readonly Plain<Occupation>[];
      readonly slots: readonly Plain<Slot>[];
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
  | { readonly kind: "clear"; readonly allocation: string; readonly slots: readonly string[] };
