import { join } from "node:path";
import { openDirectoryBlobStore } from "@trainyard/blob";
import { type Bus, createNatsBus } from "@trainyard/bus";
import { createPostgresLog, type EventLog } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import {
  createLogger,
  createRegistry,
  EventFeed,
  Executor,
  FoldCache,
  type Logger,
  migrate,
  pause,
  type Service,
  systemClock,
  View,
} from "@trainyard/runtime";
import { Pool } from "pg";
import { checkpointHandlers } from "./api/checkpoints.ts";
import { clusterHandlers } from "./api/cluster.ts";
import { experimentHandlers } from "./api/experiments.ts";
import { runHandlers } from "./api/runs.ts";
import { logHandlers } from "./api/trial-logs.ts";
import { metricHandlers } from "./api/trial-metrics.ts";
import type { GatewayConfig } from "./config.ts";
import { authenticate } from "./http/caller.ts";
import { IdempotencyStore } from "./http/idempotency.ts";
import { createHttpServer } from "./http/server.ts";
import { gatewayLimits } from "./limits.ts";
import { Backend } from "./shell/backend.ts";
import { DocumentStore } from "./shell/document-store.ts";
import { issueFirstToken } from "./shell/first-token.ts";
import { PositionSignal } from "./shell/position-signal.ts";

export type GatewayOverrides = {
  readonly log?: EventLog;
  readonly bus?: Bus;
  readonly clock?: Clock;
  readonly logger?: Logger;
};

export type Gateway = Service & {
  /** Where it listens, once started. */
  address(): string;
};

export async function createService(
  config: GatewayConfig,
  overrides: GatewayOverrides = {},
): Promise<Gateway> {
  const stack = new AsyncDisposableStack();
  const stop = new AbortController();
  const clock = overrides.clock ?? systemClock;
  const logger = overrides.logger ?? createLogger("gateway", config.logLevel);
  const registry = createRegistry("gateway");
  const pool = new Pool({
    connectionString: config.postgresUrl,
    max: gatewayLimits.poolConnections,
  });
  pool.on("error", (error) => logger.warn({ err: error }, "database_connection_lost"));
  stack.defer(() => pool.end());
  const log =
    overrides.log ?? stack.use(createPostgresLog({ connectionString: config.postgresUrl }));
  const bus = overrides.bus ?? stack.use(await createNatsBus({ ...config.nats, name: "gateway" }));
  const executor = new Executor(log, new FoldCache(log));
  const moved = new PositionSignal();
  const documents = new DocumentStore();
  const view = new View(
    {
      schema: "gateway",
      view: "documents",
      apply: (client, events) => documents.apply(client, events),
      after: (events) => {
        for (const event of events) executor.cache.observe(event);
        moved.notify(events);
      },
    },
    pool,
    clock,
    logger,
  );
  const blobs = await openDirectoryBlobStore(config.blobDir);
  const backend = new Backend({ log, bus, pool, clock, logger, documents, view, blobs, executor });
  const idempotency = new IdempotencyStore(pool);
  const readiness = (): string | null => (started ? null : "is starting");
  let started = false;
  const cluster = clusterHandlers(backend, moved);
  const logs = logHandlers(backend);
  const checkpoints = checkpointHandlers(backend);
  const server = createHttpServer({
    handlers: {
      unary: {
        ...experimentHandlers(backend, config.checkpointDir),
        ...metricHandlers(backend),
        ...runHandlers(backend, moved),
        ...logs.unary,
        ...checkpoints.unary,
        ...cluster.unary,
      },
      streams: { ...logs.streams, ...cluster.streams },
      raw: checkpoints.raw,
    },
    idempotency,
    authenticate: (authorization) =>
      authenticate(
        authorization,
        config.runTokenKeys,
        (id) => documents.get(pool, "token", id),
        clock.nowMs(),
      ),
    draining: stop.signal,
    logger,
    registry,
    health: { readiness },
    position: () => view.position,
  });

  const address = (): string => {
    const bound = server.server.address();
    if (bound === null || typeof bound === "string") return "";
    return `http://${config.http.host}:${bound.port}`;
  };

  return {
    name: "gateway",
    async start() {
      await migrate(pool, "gateway", join(import.meta.dirname, "../migrations"));
      const feed = stack.use(await EventFeed.open(log, bus, clock));
      const running = [
        view.run(feed, stop.signal),
        sweepDaily(idempotency, clock, logger, stop.signal),
      ];
      stack.defer(async () => {
        stop.abort();
        await Promise.all(running);
      });
      stack.defer(() => server.close());
      if (config.firstTokenFile !== null) await issueFirstToken(backend, config.firstTokenFile);
      await server.listen(config.http);
      started = true;
      logger.info({ address: address() }, "ready");
    },
    readiness,
    address,
    async [Symbol.asyncDispose]() {
      started = false;
      // Open streams end first: closing the server waits for them.
      stop.abort();
      await stack.disposeAsync();
    },
  };
}

async function sweepDaily(
  idempotency: IdempotencyStore,
  clock: Clock,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await idempotency
      .sweep()
      .catch((error: unknown) => logger.warn({ err: error }, "sweep_failed"));
    await pause(clock, gatewayLimits.sweepMs, signal);
  }
}
