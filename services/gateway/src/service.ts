import { join } from "node:path";
import { openDirectoryBlobStore } from "@trainyard/blob";
import type { StoredEvent } from "@trainyard/event-log";
import {
  EventFeed,
  Executor,
  FoldCache,
  type ListeningService,
  LogFollower,
  openParts,
  openTables,
  serviceOf,
  type TableOverrides,
  viewGauges,
} from "@trainyard/runtime";
import { apiHandlers } from "./api/handlers.ts";
import type { GatewayConfig } from "./config.ts";
import { createTelemetry } from "./telemetry.ts";
import { authenticate, type Credentials, type TokenLookup } from "./http/caller.ts";
import { startGrpc } from "./http/grpc.ts";
import { IdempotencyStore } from "./http/idempotency.ts";
import { unavailable } from "./http/problem.ts";
import { startHttpServer } from "./http/server.ts";
import { WebPages } from "./http/web-pages.ts";
import { gatewayLimits } from "./limits.ts";
import { Backend } from "./shell/backend.ts";
import { documentsView, DocumentStore } from "./shell/document-store.ts";
import { FairQueue } from "./shell/fair-queue.ts";
import { Freshness } from "./shell/freshness.ts";
import { issueFirstToken } from "./shell/first-token.ts";
import { OpenCalls } from "./http/open-calls.ts";
import { PositionSignal } from "./shell/position-signal.ts";
import { purgeLoop } from "./shell/purge.ts";
import { Sessions } from "./shell/sessions.ts";
import { sweep } from "./shell/sweep.ts";

const migrations = join(import.meta.dirname, "../migrations");

export async function createService(
  config: GatewayConfig,
  overrides: TableOverrides = {},
): Promise<ListeningService> {
  const parts = await openParts("gateway", config, overrides);
  const { stack, log, bus, clock, logger, registry } = parts;
  const { http, runTokenKeys, firstTokenFile } = config;
  const pool = openTables(parts, config, overrides);
  const executor = new Executor(log, new FoldCache(log));
  const moved = new PositionSignal();
  const documents = new DocumentStore();
  const view = documentsView(pool, clock, logger, () => purging.wake());
  viewGauges(registry, () => [view]);
  const blobs = await openDirectoryBlobStore(config.blobDir, clock);
  const feed = stack.use(await EventFeed.open(log, bus, clock, logger));
  const observed = (event: StoredEvent): void => {
    moved.notify([event]);
    openCalls.observed(event);
  };
  const follower = await LogFollower.open(executor.cache, { ...parts, observed });
  const freshness = new Freshness(view, clock, logger);
  const telemetry = createTelemetry(registry, () => freshness.behindMs);
  const backend = new Backend({
    ...{ log, bus, pool, clock, logger, documents, view, blobs, executor, follower },
    listQueries: new FairQueue(gatewayLimits.listQueries),
  });
  const purging = purgeLoop(backend, () => freshness.unready() === null);
  const idempotency = new IdempotencyStore(pool);
  const knownToken = tokenLookup(freshness, (id) => documents.get(pool, "token", id));
  const sessions = new Sessions(pool);
  const openCalls = new OpenCalls({ token: knownToken, sessions, clock });
  const lookups = {
    runTokenKeys,
    token: knownToken,
    session: (secret: string) => sessions.find(secret),
  };
  const door = {
    ...{ sessions, openCalls },
    authenticate: (credentials: Credentials) => authenticate(credentials, lookups, clock.nowMs()),
  };
  const face = {
    handlers: apiHandlers(backend, moved, door, config),
    ...{ idempotency, openCalls },
    authenticate: door.authenticate,
    clusterId: () => sessions.clusterId,
    unreadable: () => freshness.unreadable(),
    clock,
    logger,
    registry,
    telemetry,
    position: () => view.position,
    webPages: new WebPages(config.webDir, logger),
  };
  return serviceOf(parts, {
    http,
    tables: { pool, migrations },
    // Done before the read model starts, so that it includes the first token once it has caught up.
    prepare: async () => {
      await sessions.prepare();
      if (firstTokenFile !== null) await issueFirstToken(backend, firstTokenFile);
    },
    listen: (serving) =>
      startHttpServer({ ...face, health: serving, draining: serving.draining }, http),
    listenGrpc: (serving) => startGrpc(face, serving, { ...http, port: config.grpcPort }),
    loops: [
      { run: (signal) => view.run(feed, signal) },
      follower,
      freshness,
      { run: (signal) => openCalls.run(logger, signal) },
      { run: (signal) => sweep([idempotency, sessions], clock, logger, signal) },
      purging,
    ],
    // Calls of runs are answered already. Reads are answered once the read model has caught up, which may take hours.
    started: async () => {
      await view.reach(await log.head(), gatewayLimits.startWaitMs).catch(() => {});
    },
    unready: () => freshness.unready(),
  });
}

/**
 * Looks up a token. While the read model is behind, an unknown token may be a new one, so the call is asked to retry.
 */
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
