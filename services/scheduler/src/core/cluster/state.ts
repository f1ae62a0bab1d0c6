import type { AnyEvent, EventData, Plain } from "@trainyard/contracts";
import type { Placement, Resources, StopWhy, WaitCode } from "@trainyard/contracts/events";
import type { Use } from "../agent/use.ts";
import type { Trust } from "./trust.ts";

/** The origin of a commit: its effects continue with the same. */
export type Origin = {
  readonly workspace: string;
  readonly correlationid: string;
  readonly authid: string;
  readonly traceparent: string;
};

/** An event of this service as the log has it. */
export type Noted = {
  readonly position: number;
  readonly timeMs: number;
  readonly origin: Origin;
  /** The id in the stream's name. */
  readonly id: string;
  readonly event: AnyEvent;
};

/** A queued, granted or started allocation. Ended ones are dropped; what they may still occupy is the agent's. */
export type Allocation = {
  readonly id: string;
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
  /** Null until its processes have started. */
  readonly startedAtMs: number | null;
  readonly stop: {
    readonly why: StopWhy;
    /** The shortest grace that it was given; null for never. */
    readonly graceMs: number | null;
    /** Null once it is a kill, or when it never becomes one. */
    readonly killAtMs: number | null;
    readonly kill: boolean;
  } | null;
  /** Node ranks whose agent was lost while they ran: they do not come back, even if the agent does. */
  readonly lostRanks: readonly number[];
  /** Agents on which the launches of its task before it failed. */
  readonly avoid: readonly string[];
};

export type Grant = {
  readonly position: number;
  readonly atMs: number;
  /** The slots that its workspace has on loan. */
  readonly borrowed: number;
  /** The allocation on whose reserved slots it is; null if there is none. */
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
  /** Ended allocations that may still run there, with the slots that they hold. */
  readonly ghosts: Readonly<Record<string, readonly string[]>>;
  readonly trust: Trust;
  /** The free disk space when that was too little. */
  readonly diskLowBytes: number | null;
  /** Allocations of which processes are there that cannot be killed, with what was said of them. */
  readonly left: Readonly<Record<string, string>>;
  /**
   * The position since which the name has its present holder: what was granted before may have been launched
   * by the holder before it. 0 while it is the first that is known.
   */
  readonly heldSince: number;
  /** Where the other is that asks for its name, and was refused; null when none does. */
  readonly refused: { readonly folder: string; readonly address: string } | null;
};
