import {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  parseEnvironment,
  type SigningKey,
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
  /** 32 random bytes. */
  TRAINYARD_RUN_TOKEN_KEY: z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hex digits"),
  TRAINYARD_RUN_TOKEN_KEY_ID: z.string().regex(/^[A-Za-z0-9_-]+$/),
  TRAINYARD_AGENT_SILENCE_MS: z.coerce.number().int().min(1_000).default(limits.agentSilenceMs),
});

export function parseConfig(environment: Readonly<Record<string, string>>): SchedulerConfig {
  const env = parseEnvironment(schema, environment);
  return {
    ...connectionsOf(env),
    tokenKey: {
      id: env.TRAINYARD_RUN_TOKEN_KEY_ID,
      secret: Buffer.from(env.TRAINYARD_RUN_TOKEN_KEY, "hex"),
    },
    agentSilenceMs: env.TRAINYARD_AGENT_SILENCE_MS,
  };
}
