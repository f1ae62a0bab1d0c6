import { join } from "node:path";
import {
  BrakedDisk,
  openBlobStore,
  ProcessDisk,
  type StorageDisk,
  StoreBrake,
} from "@trainyard/blob";
import type { StoredEvent } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import {
  DeletionHold,
  EventFeed,
  Executor,
  FoldCache,
  type ListeningService,
  LogFollower,
  LogIdentity,
  openParts,
  openTables,
  RunGrants,
  serviceOf,
  type TableOverrides,
  viewFollower,
  viewGauges,
} from "@trainyard/runtime";
import type { Pool } from "pg";
import { AnalysisThread } from "./api/analysis/analysis-thread.ts";
import { apiHandlers } from "./api/handlers.ts";
import { lifeOfRuns } from "./api/runs/late-runs.ts";
import { openedTasks } from "./api/tasks/serving.ts";
import { type StreamsDeps, streamRoutes } from "./api/streams/streams.ts";
import { apiLimits } from "./api/limits.ts";
import { Backend, type BackendParts } from "./backend.ts";
import type { GatewayConfig } from "./config.ts";
import { authenticate, bucketOf, type Credentials, type TokenLookup } from "./http/caller.ts";
import { FairQueue } from "./http/fair-queue.ts";
import { gatewayBodies } from "./http/access.ts";
import { Costs } from "./http/costs.ts";
import { startGrpc } from "./http/grpc.ts";
import { expiredKeys, IdempotencyStore } from "./http/idempotency.ts";
import { OpenCalls } from "./http/open-calls.ts";
import { OpenChecks } from "./http/open-checks.ts";
import { unavailable } from "./http/problem.ts";
import { OwnerRuns } from "./http/owner-runs.ts";
import { type ServerDeps, startHttpServer } from "./http/server.ts";
import { expiredSessions, Sessions } from "./http/sessions.ts";
import { type Lookup, SharedLookups } from "./http/shared-lookups.ts";
import { UserDirectory } from "./people/directory.ts";
import { oidcRoom } from "./people/oidc/room.ts";
import { expiredSignIns } from "./people/oidc/sign-ins.ts";
import { expiredDeviceLogins } from "./people/device-logins.ts";
import { CurrentAccess } from "./people/current-access.ts";
import { expiredWrongPasswords } from "./people/wrong-passwords.ts";
import { Guard } from "./api/rights/guard.ts";
import { findTokens } from "./spaces/tokens.ts";
import { sweep } from "./http/sweep.ts";
import { TokenUses } from "./http/token-uses.ts";
import { WebPages } from "./http/web-pages.ts";
import { PositionSignal } from "./live/position-signal.ts";
import { keepRecent, openLeaving } from "./live/keep-recent.ts";
import { DocumentStore, documentsView } from "./read-model/document-store.ts";
import { Freshness } from "./read-model/freshness.ts";
import { readModelLimits } from "./read-model/limits.ts";
import type { TokenDocument } from "./read-model/core/views/documents.ts";
import { removalLoop } from "./read-model/removed.ts";
import { issueFirstToken } from "./spaces/first-token.ts";
import { purgeLoop } from "./spaces/purge.ts";
import { frontServer } from "./task-pages/front.ts";
import { taskPageRoom } from "./task-pages/task-page-room.ts";
import { expiredTaskSessions } from "./task-pages/task-sessions.ts";
import { tunnelRoom } from "./tunnels/tunnel-room.ts";
import { createTelemetry } from "./telemetry.ts";
import { TrustedProxies } from "./rates/client-address.ts";
import { openState } from "./rates/open-state.ts";
import { Rates } from "./rates/rates.ts";
import type { SharedState } from "./rates/shared-state.ts";

type Listeners = Parameters<ServerDeps["front"]>;
type ServeConnection = StreamsDeps["serveConnection"];

const migrations = join(import.meta.dirname, "../migrations");
const expired = [
  ...[expiredKeys, ...expiredSessions, ...expiredTaskSessions],
  ...[expiredDeviceLogins, expiredSignIns, expiredWrongPasswords],
];

export async function createService(
  config: GatewayConfig,
  overrides: TableOverrides & { readonly disk?: StorageDisk } = {},
): Promise<ListeningService> {
  const parts = await openParts("gateway", config, overrides);
  const { stack, log, bus, clock, logger, registry, tracer } = parts;
  const { http, runTokenKeys, firstTokenFile, peerUrl, taskDomain } = config;
  const pool = openTables(parts, config, overrides, readModelLimits.connections);
  const callers = openTables(parts, config, overrides, readModelLimits.callerConnections);
  const executor = new Executor(log, new FoldCache(log));
  const moved = new PositionSignal();
  const documents = new DocumentStore();
  const view = documentsView(pool, clock, logger, () => {
    purging.wake();
    removing.wake();
  });
  viewGauges(registry, () => [view]);
  const brake = new StoreBrake({ clock, ...apiLimits.storages.storageBrake });
  const own = new LogIdentity(log);
  const opening = { clock, logger, stores: config.stores, brake, writes: true, log: own };
  const { blobs, peers } = stack.use(await openBlobStore(config.blobs, opening));
  const feed = stack.use(await EventFeed.open(log, bus, clock, logger));
  const observed = (event: StoredEvent): void => {
    moved.notify([event]);
    openCalls.observed(event);
    room.tunnels.observed(event);
    people.observed(event);
  };
  const follower = await LogFollower.open(executor.cache, { ...parts, observed });
  const freshness = new Freshness(view, clock, logger);
  const telemetry = createTelemetry(registry, () => freshness.behindMs);
  const disk = braked(overrides.disk ?? stack.use(new ProcessDisk(clock)), brake, clock);
  const people = peopleOf({ pool, clock, logger, cache: executor.cache });
  const { access, directory, checks } = people;
  const backend = new Backend({
    ...{ access, directory, checks, disk, log, bus, pool, clock, logger, documents, view, blobs },
    ...{ executor, follower },
    ...openLeaving(parts, pool),
    listQueries: new FairQueue(readModelLimits.listQueries),
    analyses: stack.use(new AnalysisThread(log)),
  });
  const purging = purgeLoop(backend, new DeletionHold(parts), () => freshness.unready() === null);
  const removing = removalLoop({ pool, clock, logger });
  const known = tokenLookup(freshness, (ids) => findTokens({ documents, pool: callers }, ids));
  const state = await openState(config.redisUrl, parts);
  const door = doorOf({ ...parts, state, access }, callers, executor.cache, known, config);
  const { sessions, openCalls } = door;
  const rooms = { pool, clock, logger, cache: executor.cache };
  const room = tunnelRoom({ ...rooms, ...door, keys: runTokenKeys });
  const opened = openedTasks(backend, runTokenKeys);
  const pages = taskPageRoom({ ...rooms, ...room, ...door, ...opened, token: known });
  const face = {
    ...{ costs: new Costs(), bodies: gatewayBodies(), guard: new Guard(access, backend) },
    reached: (position: string) => backend.reachText(position),
    handlers: apiHandlers(backend, moved, { ...door, ...pages, ...room, state }, config),
    ...{ idempotency: new IdempotencyStore(pool), directory, ...door },
    front: (...listeners: Listeners) => frontServer({ ...pages, taskDomain }, ...listeners),
    upgrades: (serveConnection: ServeConnection) => [
      ...room.doors,
      ...streamRoutes({ ...rooms, ...room, openCalls, checks, backend, serveConnection }),
    ],
    ...lifeOfRuns({ log, clock, cache: executor.cache }),
    unreadable: () => freshness.unreadable(),
    ...{ checks, clock, logger, registry, tracer, telemetry },
    position: () => view.position,
    webPages: new WebPages(config.webDir, logger),
    signIns: oidcRoom(backend, door, config.oidc),
  };
  return serviceOf(parts, {
    http,
    tables: { pool, migrations },
    // Done before the read model starts, so that it includes the first token once it has caught up.
    prepare: async () => {
      await sessions.prepare();
      await directory.prepare();
      if (firstTokenFile !== null) await issueFirstToken(backend, firstTokenFile);
    },
    listen: async (serving) => {
      const deps = { ...face, health: serving, draining: serving.draining };
      const listening = await startHttpServer(deps, http);
      room.tunnels.listensAt(peerUrl ?? listening.address);
      return listening;
    },
    listenGrpc: (serving) => startGrpc(face, serving, { ...http, port: config.grpcPort }),
    loops: [
      { run: (signal) => view.run(feed, signal) },
      follower,
      { run: (signal) => keepRecent(backend.parts, signal) },
      freshness,
      { run: (signal) => openCalls.run(logger, signal) },
      ...[checks, room.tunnels, pages.callers, door.uses, purging, removing],
      { run: (signal) => sweep(expired, pool, clock, logger, signal) },
    ],
    // Calls of runs are answered already. Reads are answered once the read model has caught up, which may take hours.
    started: async () => view.reach(await log.head(), readModelLimits.startWaitMs).catch(() => {}),
    unready: () => freshness.unready(),
    peers,
    followers: () => [viewFollower(view), { name: "gateway", position: follower.position }],
  });
}

/** Returns what is known about users: their roles and their names. */
function peopleOf(deps: Pick<BackendParts, "pool" | "clock" | "logger"> & { cache: FoldCache }) {
  const directory = new UserDirectory(deps);
  const checks = new OpenChecks(deps);
  const observed = (event: StoredEvent): void => {
    directory.observed(event);
    checks.observed(event);
  };
  return { access: new CurrentAccess(deps.cache), directory, checks, observed };
}

/** Returns what identifies callers, limits their calls, and ends these with their tokens and sessions. */
function doorOf(
  {
    log,
    clock,
    logger,
    state,
    access,
  }: Pick<BackendParts, "log" | "clock" | "logger"> & {
    readonly state: SharedState;
    readonly access: CurrentAccess;
  },
  callers: Pool,
  cache: FoldCache,
  token: TokenLookup,
  { runTokenKeys, rates, trustedProxies }: GatewayConfig,
) {
  const sessions = new Sessions(callers);
  const requireEnabled = (user: string): Promise<void> => access.requireEnabled(user);
  const openCalls = new OpenCalls({ token, sessions, clock, requireEnabled });
  const uses = new TokenUses({ pool: callers, clock, logger });
  const found = new SharedLookups((secrets) => sessions.find(secrets));
  const lookups = {
    ...{ runTokenKeys, token },
    used: (id: string) => uses.note(id),
    grants: new RunGrants(log, clock),
    session: (secret: string) => found.get(secret),
    ownerRuns: new OwnerRuns({ log, clock, cache, token, requireEnabled }),
    requireEnabled,
  };
  const clusterId = (): string => sessions.clusterId;
  return {
    ...{
      sessions,
      openCalls,
      uses,
      clusterId,
      requireEnabled,
      proxies: new TrustedProxies(trustedProxies),
    },
    rates: new Rates({ rates, state, clusterId, bucketOf }),
    authenticate: (credentials: Credentials) => authenticate(credentials, lookups, clock.nowMs()),
  };
}

/** Returns the disk of the storages behind the brake, which stops calls of a storage that does not answer. */
function braked(disk: StorageDisk, brake: StoreBrake, clock: Clock): StorageDisk {
  const { seenMs, workMs } = apiLimits.storages;
  return new BrakedDisk({ disk, brake, clock, seenMs, workMs });
}

/**
 * Looks up a token. While the read model is behind, an unknown token may be a new one, so the call is asked to retry.
 */
function tokenLookup(freshness: Freshness, find: Lookup<TokenDocument>): TokenLookup {
  const tokens = new SharedLookups(find);
  return async (id) => {
    const unready = freshness.unready();
    if (unready !== null) throw unavailable(unready);
    const found = await tokens.get(id);
    const unreadable = found === undefined ? freshness.unreadable() : null;
    if (unreadable !== null) throw unavailable(unreadable);
    return found;
  };
}
