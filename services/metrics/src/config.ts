import type { KeyObject } from "node:crypto";
import {
  type ConnectionsConfig,
  connectionsOf,
  connectionVariables,
  grpcVariables,
  parseEnvironment,
  runTokenKeysOf,
  runTokenVariables,
  withLogin,
} from "@trainyard/runtime";
import { z } from "zod";

const schema = z.object({
  ...connectionVariables,
  ...grpcVariables,
  ...runTokenVariables,
  /** The database of the points, if it is not the log's. */
  TRAINYARD_METRICS_POSTGRES_URL: z.string().min(1).optional(),
  /** The password of that database, if its URL has none. */
  TRAINYARD_METRICS_POSTGRES_PASSWORD: z.string().min(1).optional(),
  TRAINYARD_METRIC_RETENTION_DAYS: z.coerce.number().int().min(-1).max(32_767).default(-1),
});

export type MetricsConfig = ConnectionsConfig & {
  readonly tables: ConnectionsConfig;
  readonly grpcPort: number;
  /** Days that points and system samples are kept after their experiment's end; -1 keeps them forever. */
  readonly retentionDays: number;
  readonly runTokenKeys: ReadonlyMap<string, KeyObject>;
};

export function parseConfig(environment: Readonly<Record<string, string>>): MetricsConfig {
  const env = parseEnvironment(schema, environment);
  const connections = connectionsOf(env);
  const { TRAINYARD_METRICS_POSTGRES_URL: url, TRAINYARD_METRICS_POSTGRES_PASSWORD: password } =
    env;
  const postgresUrl = url === undefined ? connections.postgresUrl : withLogin(url, { password });
  return {
    ...connections,
    tables: { ...connections, postgresUrl },
    grpcPort: env.TRAINYARD_GRPC_PORT,
    retentionDays: env.TRAINYARD_METRIC_RETENTION_DAYS,
    runTokenKeys: runTokenKeysOf(env),
  };
}
