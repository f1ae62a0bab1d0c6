import type { Command } from "./launch.ts";

export type ProcessKind = "service" | "agent" | "nats" | "postgres" | "supervisor";

/** Everything that the supervisor needs to keep one process alive. */
export type ProcessPlan = {
  readonly name: string;
  readonly kind: ProcessKind;
  readonly log: string;
  /** Called before every start, since it also writes the files that the process reads. */
  readonly command: () => Command;
  /** The signal that asks the process to end: SIGTERM, unless the program gives SIGTERM another meaning. */
  readonly stopSignal: NodeJS.Signals;
  /** The signal to use when the whole cluster goes down, if it differs from `stopSignal`. */
  readonly downSignal?: NodeJS.Signals;
  readonly stopLimitMs: number;
  /** Resolves to null when the process serves, else to the reason why it does not. */
  readonly problem: () => Promise<string | null>;
};
