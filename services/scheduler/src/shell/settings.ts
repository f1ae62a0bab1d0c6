import type { SigningKey } from "@trainyard/runtime";

export type SchedulerSettings = {
  /** The key that signs the tokens of runs. */
  readonly tokenKey: SigningKey;
  readonly agentSilenceMs: number;
};
