import {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  parseEnvironment,
  type SigningKey,
  signingKeyOf,
  signingVariables,
} from "@trainyard/runtime";
import { z } from "zod";
import { limits } from "./limits.ts";

export type SchedulerSettings = {
  /** The key that signs the tokens of runs. */
  readonly tokenKey: SigningKey;
  readonly agentSilenceMs: number;
};

export type SchedulerConfig = ConnectionsConfig & SchedulerSettings;

const schema = z.object({
  ...connectionVariables,
  ...signingVariables,
  TRAINYARD_AGENT_SILENCE_MS: z.coerce.number().int().min(1_000).default(limits.agentSilenceMs),
});

export function parseConfig(environment: Readonly<Record<string, string>>): SchedulerConfig {
  const env = parseEnvironment(schema, environment);
  return {
    ...connectionsOf(env),
    tokenKey: signingKeyOf(env),
    agentSilenceMs: env.TRAINYARD_AGENT_SILENCE_MS,
  };
}
