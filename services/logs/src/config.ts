import type { KeyObject } from "node:crypto";
import {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  parseEnvironment,
  runTokenKeysOf,
  runTokenVariables,
} from "@trainyard/runtime";
import { z } from "zod";
import type { RetentionSettings } from "./shell/retention.ts";

const schema = z.object({
  ...connectionVariables,
  ...runTokenVariables,
  TRAINYARD_LOG_RETENTION_DAYS: z.coerce.number().int().min(-1).max(32_767).default(-1),
  TRAINYARD_LOG_RETENTION_BYTES: z.coerce.number().int().min(1).optional(),
});

export type LogsConfig = ConnectionsConfig & {
  readonly runTokenKeys: ReadonlyMap<string, KeyObject>;
  readonly retention: RetentionSettings;
};

export function parseConfig(environment: Readonly<Record<string, string>>): LogsConfig {
  const env = parseEnvironment(schema, environment);
  return {
    ...connectionsOf(env),
    runTokenKeys: runTokenKeysOf(env),
    retention: {
      retentionDays: env.TRAINYARD_LOG_RETENTION_DAYS,
      retentionBytes: env.TRAINYARD_LOG_RETENTION_BYTES ?? null,
    },
  };
}
