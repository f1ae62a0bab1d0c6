import { join } from "node:path";
import { openDirectoryBlobStore } from "@trainyard/blob";
import type { Bus } from "@trainyard/bus";
import type { EventLog } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import {
  createLogger,
  createRegistry,
  EventFeed,
  Executor,
  FoldCache,
  type Logger,
  migrate,
  openBus,
  openLog,
  openPool,
  type Service,
  systemClock,
  View,
  viewGauges,
} from "@trainyard/runtime";
import { apiHandlers } from "./api/handlers.ts";
import type { GatewayConfig } from "./config.ts";
import { authenticate } from "./http/caller.ts";
import { IdempotencyStore } from "./http/idempotency.ts";
import { createHttpServer } from "./http/server.ts";
import { Backend } from "./shell/backend.ts";
import { DocumentStore } from "./shell/document-store.ts";
import { issueFirstToken } from "./shell/first-token.ts";
import { PositionSignal } from "./shell/position-signal.ts";
import { sweepIdempotency } from "./shell/sweep.ts";

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
  let ready = false;
  const clock = overrides.clock ?? systemClock;
  const logger = overrides.logger ?? createLogger("gateway", config.logLevel);
  const registry = createRegistry("gateway");
  const pool = openPool(config, "gateway", logger);
  stack.defer(() => pool.end());
  const log = overrides.log ?? stack.use(openLog(config, "gateway"));
  const bus = overrides.bus ?? stack.use(await openBus(config, "gateway", logger));
  const executor = new Executor(log, new FoldCache(log));
  const moved = new PositionSignal();
  const documents = new DocumentStore();
  const view = new View(
    {
      schema: "gateway",
      view: "documents",
      version: 1,
      tables: [{ name: "documents" }],
      apply: (client, events, table) => new DocumentStore(table("documents")).apply(client, events),
      after: (events) => {
        for (const event of events) executor.cache.observe(event);
        moved.notify(events);
      },
      rewound: () => executor.cache.clear(),
    },
    pool,
    clock,
    logger,
  );
  viewGauges(registry, () => [view]);
  const blobs = await openDirectoryBlobStore(config.blobDir);
  const backend = new Backend({ log, bus, pool, clock, logger, documents, view, blobs, executor });
  const idempotency = new IdempotencyStore(pool);
  const readiness = (): string | null => (ready ? null : "is starting or draining");
  const server = createHttpServer({
    handlers: apiHandlers(backend, moved, config.checkpointDir),
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
    return bound === null || typeof bound === "string"
      ? ""
      : `http://${config.http.host}:${bound.port}`;
  };

  return {
    name: "gateway",
    async start() {
      await migrate(pool, "gateway", join(import.meta.dirname, "../migrations"));
      const feed = stack.use(await EventFeed.open(log, bus, clock, logger));
      const running = [
        view.run(feed, stop.signal),
        sweepIdempotency(idempotency, clock, logger, stop.signal),
      ];
      stack.defer(() => Promise.all(running).then(() => {}));
      stack.defer(() => server.close());
      if (config.firstTokenFile !== null) await issueFirstToken(backend, config.firstTokenFile);
      // Whoever is told that the gateway is ready may use the first token at once. A rebuild takes longer than a read waits.
      await view.reach(await log.head()).catch(() => {});
      await server.listen(config.http);
      ready = true;
      logger.info({ address: address() }, "ready");
    },
    readiness,
    address,
    async [Symbol.asyncDispose]() {
      ready = false;
      // Open streams end first: closing the server waits for them.
      stop.abort();
      await stack.disposeAsync();
    },
  };
}
