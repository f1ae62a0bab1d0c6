import type { AnyEvent, EventData, Plain } from "@trainyard/contracts";
import type {
  Placement,
  Resources,
  StopWhy,
  UndeliveredCheckpoints,
  WaitCode,
} from "@trainyard/contracts/events";
import type { Use } from "../agent/use.ts";
import type { Trust } from "./trust.ts";

/** The correlation and cause of a commit, which its effects inherit. */
export type Origin = {
  readonly workspace: string;
  readonly correlationid: string;
  readonly authid: string;
  readonly traceparent: string;
};

/** An event of this service as stored in the log. */
export type RecordedEvent = {
  readonly position: number;
  readonly timeMs: number;
  readonly origin: Origin;
  /** The id in the stream's name. */
  readonly id: string;
  readonly eventId: string;
  readonly event: AnyEvent;
};

/**
 * A queued, granted or started allocation. Ended ones are dropped; slots that they may still occupy belong to the
 * agent's ghosts.
 */
export type Allocation = {
  readonly id: string;
  /** The id of the event that queued it, which distinguishes it from an allocation of a lost history with its id. */
  readonly request: string;
  readonly task: string;
  readonly run: number;
  readonly job: string;
  readonly workspace: string;
  readonly owner: string;
  readonly preemptible: boolean;
  readonly resources: Plain<Resources>;
  readonly origin: Origin;
  /** The position and time at which it was queued. */
  readonly arrival: number;
  readonly queuedAtMs: number;
  readonly notBeforeMs: number;
  readonly wait: {
    readonly code: WaitCode;
    readonly limit: string | null;
    readonly atMs: number;
  } | null;
  readonly grant: Grant | null;
  readonly started: boolean;
  /** Null until the allocation's processes have started. */
  readonly startedAtMs: number | null;
  /** Whether it has made a new checkpoint. */
  readonly checkpointed: boolean;
  /** The number of earlier runs of its trial that were stopped to make room for others. */
  readonly preemptions: number;
  readonly stop: Stop | null;
  /** The scheduler's own stop, which remains when the trial withdraws its stop. */
  readonly ownStop: Stop | null;
  /** Whether the run is ending because of a stop, which is then not withdrawn. */
  readonly stopAcknowledged: boolean;
  /** Agents on which the last runs of its task failed. */
  readonly avoid: readonly string[];
};

export type Stop = {
  readonly why: StopWhy;
  /** The shortest grace of its stops; null for never. */
  readonly graceMs: number | null;
  /** The time at which the stop becomes a kill; null if it is a kill already, or never becomes one. */
  readonly killAtMs: number | null;
  readonly kill: boolean;
};

export type Grant = {
  readonly position: number;
  /** The id of the event that granted it. */
  readonly eventId: string;
  /** The traceparent of that event. */
  readonly traceparent: string;
  readonly atMs: number;
  /** The slots that its workspace has borrowed. */
  readonly borrowed: number;
  /** The allocation whose reserved slots it uses; null for none. */
  readonly lender: string | null;
  readonly placements: readonly Plain<Placement>[];
  readonly masterAddress: string;
  readonly masterPort: number;
  readonly tokenKey: string;
};

export type Agent = Use & {
  readonly id: string;
  readonly joined: EventData<"AgentJoined">;
  readonly status: "present" | "lost" | "removed";
  /** The time at which the agent was lost; null if it is not. */
  readonly lostAtMs: number | null;
  /** Why, and until when, the scheduler waits for the silent agent; null if it does not. */
  readonly awaited: { readonly reason: string; readonly untilMs: number } | null;
  /** Ended allocations that may still run on the agent, with the slots that they hold. */
  readonly ghosts: Readonly<Record<string, readonly string[]>>;
  readonly trust: Trust;
  /** The free disk space when it was too low; null otherwise. */
  readonly diskLowBytes: number | null;
  /** The checkpoints that ended runs have left on the agent and that are not stored yet; null for none. */
  readonly undelivered: Plain<UndeliveredCheckpoints> | null;
  /** Sentences that the operator of the agent's host should know. */
  readonly notices: readonly string[];
  /** Allocations with unkillable processes on the agent, each with the agent's description. */
  readonly left: Readonly<Record<string, string>>;
  /**
   * The position since which the name has its present holder: earlier grants may have been launched by the previous
   * holder. 0 for the first known holder.
   */
  readonly heldSince: number;
  /** The place of another agent that asks for the name and was refused; null for none. */
  readonly refused: { readonly folder: string; readonly address: string } | null;
};
