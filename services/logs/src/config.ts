import {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  parseEnvironment,
  readEnvironment,
} from "@trainyard/runtime";
import { z } from "zod";

const schema = z.object({
  ...connectionVariables,
  TRAINYARD_RUN_TOKEN_KEY: z.string().regex(/^[0-9a-f]{64}$/),
  TRAINYARD_RUN_TOKEN_KEY_ID: z.string().min(1).default("1"),
});

export type LogsConfig = ConnectionsConfig & {
  readonly runTokenKeys: ReadonlyMap<string, Buffer>;
};

export function readEnv(): Readonly<Record<string, string>> {
  return readEnvironment();
}

export function parseConfig(environment: Readonly<Record<string, string>>): LogsConfig {
  const env = parseEnvironment(schema, environment);
  const key = Buffer.from(env.TRAINYARD_RUN_TOKEN_KEY, "hex");
  return { ...connectionsOf(env), runTokenKeys: new Map([[env.TRAINYARD_RUN_TOKEN_KEY_ID, key]]) };
}
