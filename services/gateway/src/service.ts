import { join } from "node:path";
import { openDirectoryBlobStore } from "@trainyard/blob";
import type { Bus } from "@trainyard/bus";
import type { EventLog, StoredEvent } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import {
  createLogger,
  createRegistry,
  EventFeed,
  Executor,
  FoldCache,
  LogFollower,
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
import { showLag } from "./events.ts";
import { authenticate, type TokenLookup } from "./http/caller.ts";
import { IdempotencyStore } from "./http/idempotency.ts";
import { unavailable } from "./http/problem.ts";
import { createHttpServer } from "./http/server.ts";
import { gatewayLimits } from "./limits.ts";
import { Backend } from "./shell/backend.ts";
import { DocumentStore } from "./shell/document-store.ts";
import { Freshness } from "./shell/freshness.ts";
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
  let state: "starting" | "serving" | "draining" = "starting";
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
      // 2: documents are written in an encoding that nobody's value can forge.
      version: 2,
      tables: [{ name: "documents" }],
      apply: (client, events, table) => new DocumentStore(table("documents")).apply(client, events),
    },
    pool,
    clock,
    logger,
  );
  viewGauges(registry, () => [view]);
  const blobs = await openDirectoryBlobStore(config.blobDir);
  const feeds = {
    view: stack.use(await EventFeed.open(log, bus, clock, logger)),
    follower: stack.use(await EventFeed.open(log, bus, clock, logger)),
  };
  const hears = { clock, logger, observed: (event: StoredEvent) => moved.notify([event]) };
  const follower = new LogFollower(log, feeds.follower, executor.cache, hears);
  const freshness = new Freshness(view, clock, logger);
  showLag(registry, () => freshness.behindMs);
  const parts = { log, bus, pool, clock, logger, documents, view, blobs, executor, follower };
  const backend = new Backend(parts);
  const idempotency = new IdempotencyStore(pool);
  const knownToken = tokenLookup(freshness, (id) => documents.get(pool, "token", id));
  const readiness = (): string | null =>
    state === "serving" ? freshness.unready() : `is ${state}`;
  const server = createHttpServer({
    handlers: apiHandlers(backend, moved, config.checkpointDir),
    idempotency,
    authenticate: (authorization) =>
      authenticate(authorization, config.runTokenKeys, knownToken, clock.nowMs()),
    unreadable: () => freshness.unreadable(),
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
      // Before the read model begins, so that it has caught up only when it knows the token.
      if (config.firstTokenFile !== null) await issueFirstToken(backend, config.firstTokenFile);
      const running = [
        view.run(feeds.view, stop.signal),
        follower.run(stop.signal),
        freshness.run(stop.signal),
        sweepIdempotency(idempotency, clock, logger, stop.signal),
      ];
      stack.defer(() => Promise.all(running).then(() => {}));
      stack.defer(() => server.close());
      // Runs are answered from here on; reads once the read model has caught up, which may take hours.
      await server.listen(config.http);
      state = "serving";
      await view.reach(await log.head(), gatewayLimits.startWaitMs).catch(() => {});
      const waitsFor = readiness();
      if (waitsFor === null) logger.info({ address: address() }, "ready");
      else logger.warn({ address: address(), waitsFor }, "read_model_behind");
    },
    readiness,
    address,
    async [Symbol.asyncDispose]() {
      state = "draining";
      // Open streams end first: closing the server waits for them.
      stop.abort();
      await stack.disposeAsync();
    },
  };
}

/** A token that the read model does not know may be one that it does not know yet. */
function tokenLookup(freshness: Freshness, find: TokenLookup): TokenLookup {
  return async (id) => {
    const unready = freshness.unready();
    if (unready !== null) throw unavailable(unready);
    const found = await find(id);
    const unreadable = found === undefined ? freshness.unreadable() : null;
    if (unreadable !== null) throw unavailable(unreadable);
    return found;
  };
}
