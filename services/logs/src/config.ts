import { createSecretKey, type KeyObject } from "node:crypto";
import {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  parseEnvironment,
} from "@trainyard/runtime";
import { z } from "zod";
import type { RetentionSettings } from "./shell/retention.ts";

const schema = z.object({
  ...connectionVariables,
  TRAINYARD_RUN_TOKEN_KEY: z.string().regex(/^[0-9a-f]{64}$/),
  TRAINYARD_RUN_TOKEN_KEY_ID: z.string().min(1).default("1"),
  TRAINYARD_LOG_RETENTION_DAYS: z.coerce.number().int().min(-1).max(32_767).default(-1),
  TRAINYARD_LOG_RETENTION_BYTES: z.coerce.number().int().min(1).optional(),
});

export type LogsConfig = ConnectionsConfig & {
  readonly runTokenKeys: ReadonlyMap<string, KeyObject>;
  readonly retention: RetentionSettings;
};

export function parseConfig(environment: Readonly<Record<string, string>>): LogsConfig {
  const env = parseEnvironment(schema, environment);
  const key = createSecretKey(env.TRAINYARD_RUN_TOKEN_KEY, "hex");
  return {
    ...connectionsOf(env),
    runTokenKeys: new Map([[env.TRAINYARD_RUN_TOKEN_KEY_ID, key]]),
    retention: {
      retentionDays: env.TRAINYARD_LOG_RETENTION_DAYS,
      retentionBytes: env.TRAINYARD_LOG_RETENTION_BYTES ?? null,
    },
  };
}
