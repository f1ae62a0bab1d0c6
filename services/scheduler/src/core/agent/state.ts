/**
 * An agent's life: none → present ⇄ lost; it can be removed in any state, and joins again when it reports again.
 * Present and lost say whether reports arrive, not what the agent runs: the slots of a lost agent's runs stay occupied
 * until it reports otherwise.
 */
import type { EventData, EventOf, Plain } from "@trainyard/contracts";
import type {
  Occupation,
  RunCheckpoints,
  Slot,
  UndeliveredCheckpoints,
} from "@trainyard/contracts/events";
import type { Holder } from "./holder.ts";
import type { Use, UseCommand, UseEvent } from "./use.ts";

export type AgentEvent =
  | UseEvent
  | EventOf<
      | "AgentJoined"
      | "AgentLost"
      | "AgentReturned"
      | "AgentsSilent"
      | "AgentsHeard"
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
      | "CheckpointsLeft"
      | "AgentNoticed"
    >;

export type AgentState = Use & {
  readonly status: "none" | "present" | "lost" | "removed";
  readonly joined: EventData<"AgentJoined"> | null;
  /** True if failed launches on the agent are recorded, and no run has started there since. */
  readonly distrusted: boolean;
  readonly diskLow: boolean;
  /** The checkpoints that ended runs have left on the agent; null for none. */
  readonly undelivered: Plain<UndeliveredCheckpoints> | null;
  /** Sentences for the operator of the host. */
  readonly notices: readonly string[];
  /** True if a refused agent with the same name is recorded. */
  readonly refuses: boolean;
  /** The offset of the scheduler's epochs above its lease's, caused by this agent. */
  readonly epochOffset: number;
};

export type AgentCommand =
  | UseCommand
  | {
      readonly kind: "remove";
      readonly reason: string;
      /** The runs that are placed on the agent, or may still run there. */
      readonly runs: readonly string[];
      /** Whether checkpoints that are only on the agent are given up. */
      readonly force: boolean;
    }
  | { readonly kind: "note_silent"; readonly silent: EventData<"AgentsSilent"> }
  | { readonly kind: "note_heard"; readonly heard: EventData<"AgentsHeard"> }
  | { readonly kind: "join"; readonly joined: EventData<"AgentJoined"> }
  | { readonly kind: "lose"; readonly reason: string }
  | {
      readonly kind: "return";
      readonly occupations: readonly Plain<Occupation>[];
      readonly slots: readonly Plain<Slot>[];
      /** The checkpoints that abandoned runs have stored on the agent. */
      readonly left?: readonly Plain<RunCheckpoints>[];
      readonly holder: Holder;
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
  | { readonly kind: "note_notices"; readonly notices: readonly string[] }
  | { readonly kind: "note_checkpoints"; readonly left: Plain<UndeliveredCheckpoints> }
  | { readonly kind: "clear"; readonly allocation: string; readonly slots: readonly string[] };
