import type { SigningKey } from "@trainyard/runtime";

export type SchedulerSettings = {
  /** Signs the tokens of runs. */
  readonly tokenKey: SigningKey;
  readonly agentSilenceMs: number;
};
