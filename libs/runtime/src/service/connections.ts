/**
 * The settings of a service: for its process (bus, HTTP, log level), which agents have too, and for its database. The
 * functions here open the log, the bus and the service's tables with them.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { type Bus, createNatsBus, type NatsBusConfig } from "@trainyard/bus";
import { createPostgresLog, type EventLog, type PostgresLogOptions } from "@trainyard/event-log";
import pg from "pg";
import { z } from "zod";
import { runtimeLimits } from "../limits.ts";
import type { Logger } from "../logging.ts";
import { withLogin } from "./database-url.ts";
import { tracingOf, type TracingVariables, tracingVariables } from "../tracing/settings.ts";

/** The variables of a process without a database, for its zod schema: `z.object({ ...processVariables, … })`. */
export const processVariables = {
  TRAINYARD_NATS_URL: z.string().min(1),
  TRAINYARD_NATS_USER: z.string().min(1).optional(),
  TRAINYARD_NATS_PASSWORD: z.string().optional(),
  TRAINYARD_HTTP_HOST: z.string().min(1).default("127.0.0.1"),
  TRAINYARD_HTTP_PORT: z.coerce.number().int().min(0).max(65_535).default(0),
  TRAINYARD_LOG_LEVEL: z.string().min(1).default("info"),
  ...tracingVariables,
};

/** The variables of a program that has only the database, for its zod schema. */
export const databaseVariables = {
  TRAINYARD_POSTGRES_URL: z.string().min(1),
  /** The password, which replaces that of the URL. */
  TRAINYARD_POSTGRES_PASSWORD: z.string().min(1).optional(),
};

/** The variables of a service, for its zod schema: `z.object({ ...connectionVariables, … })`. */
export const connectionVariables = { ...databaseVariables, ...processVariables };

/** The additional variables of a service with gRPC, which listens on TRAINYARD_HTTP_HOST. */
export const grpcVariables = {
  TRAINYARD_GRPC_PORT: z.coerce.number().int().min(0).max(65_535).default(0),
};

type Output<Variables extends z.ZodRawShape> = z.output<z.ZodObject<Variables>>;

export type BusConfig = {
  readonly nats: { readonly url: string; readonly user?: string; readonly password?: string };
};

export type ProcessConfig = BusConfig & {
  readonly http: { readonly host: string; readonly port: number };
  readonly logLevel: string;
  /** The variables of traces that are set; absent if none is. */
  readonly tracing?: TracingVariables;
};

export type DatabaseConfig = { readonly postgresUrl: string };

export type ConnectionsConfig = ProcessConfig & DatabaseConfig;

export function processOf(env: Output<typeof processVariables>): ProcessConfig {
  const { TRAINYARD_NATS_USER: user, TRAINYARD_NATS_PASSWORD: password } = env;
  return {
    nats: {
      url: env.TRAINYARD_NATS_URL,
      ...(user === undefined ? {} : { user }),
      ...(password === undefined ? {} : { password }),
    },
    http: { host: env.TRAINYARD_HTTP_HOST, port: env.TRAINYARD_HTTP_PORT },
    logLevel: env.TRAINYARD_LOG_LEVEL,
    ...tracingOf(env),
  };
}

export function databaseOf(env: Output<typeof databaseVariables>): DatabaseConfig {
  const password = env.TRAINYARD_POSTGRES_PASSWORD;
  return { postgresUrl: withLogin(env.TRAINYARD_POSTGRES_URL, { password }) };
}

export function connectionsOf(env: Output<typeof connectionVariables>): ConnectionsConfig {
  return { ...processOf(env), ...databaseOf(env) };
}

export function openLog(
  config: DatabaseConfig,
  service: string,
  hooks: Pick<PostgresLogOptions, "appending" | "onAppend"> = {},
): EventLog {
  const { postgresUrl: connectionString } = config;
  return createPostgresLog({ connectionString, applicationName: service, ...hooks });
}

export function openBus(
  config: BusConfig,
  service: string,
  logger: Logger,
  options: Pick<NatsBusConfig, "dialWaitLastMs"> = {},
): Promise<Bus> {
  const { url, user, password } = config.nats;
  return createNatsBus({
    servers: url.split(","),
    ...options,
    name: user ?? service,
    ...(password === undefined ? {} : { password }),
    onProblem: (problem) => logger.error({ err: problem }, "bus_problem"),
  });
}

/** Opens a pool for the service's tables. */
export function openPool(
  config: DatabaseConfig,
  service: string,
  logger: Logger,
  connections: number = runtimeLimits.tableConnectionsMax,
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: config.postgresUrl,
    application_name: `${service} tables`,
    max: connections,
    idleTimeoutMillis: runtimeLimits.idleConnectionMs,
    connectionTimeoutMillis: runtimeLimits.connectTimeoutMs,
    statement_timeout: runtimeLimits.statementTimeoutMs,
    query_timeout: runtimeLimits.answerTimeoutMs,
    keepAlive: true,
  });
  // The pool replaces a connection that breaks, and a running transaction's next query fails. Without these listeners
  // the error would stop the process.
  pool.on("error", (error) => logger.warn({ err: error }, "idle_connection_lost"));
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

/** Returns the owner name for leases: unique for each process and service. */
export function leaseOwner(service: string): string {
  return `${service}@${hostname()}:${process.pid}:${randomUUID()}`;
}
