import type { Command } from "./launch.ts";
import type { ProcessIdentity } from "./process-identity.ts";

export type ProcessKind = "service" | "agent" | "nats" | "postgres" | "supervisor";

/** Everything that the supervisor needs to keep one process alive. */
export type ProcessPlan = {
  readonly name: string;
  readonly kind: ProcessKind;
  readonly log: string;
  /** Prepared again before every start: files that the process reads are written here. */
  readonly command: () => Command;
  /** A running process is taken over only when it was started with the same one. */
  readonly fingerprint: string;
  /** Asks it to end: SIGTERM, except where a program means something else by it. */
  readonly stopSignal: NodeJS.Signals;
  /** The signal when the whole cluster goes down, where that is another. */
  readonly downSignal?: NodeJS.Signals;
  readonly stopLimitMs: number;
  /** Null when it serves, else why not. */
  readonly problem: () => Promise<string | null>;
  /** Another way to know the running process, for one that keeps a pid file of its own. */
  readonly find?: () => ProcessIdentity | null;
};
