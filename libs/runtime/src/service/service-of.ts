/**
 * The lifecycle of every service: starting → ready → draining → stopped. Its plan has the parts that differ.
 *
 * Start: the tables are migrated, the health server listens, the loops run, and commands are served. A service's HTTP
 * server replaces the health server and listens after the loops have started. Drain, in reverse order: readiness fails
 * at once, new commands are refused, requests end before the loops that they wait for, and the connections close.
 *
 * A service whose partition is not led by this replica is ready, because it can take over. It serves no commands, and
 * /readyz answers "standby" instead of "ok", so that a cluster with one replica can wait for "ok". /readyz also fails
 * while the database or the bus is away, or the service is late behind the log (`readiness/`).
 *
 * A loop that throws is a bug: it is logged, and its unhandled rejection stops the process, which is then restarted.
 */
import type { Pool } from "pg";
import { commandHandlers, type CommandFunctions } from "../commands/commands.ts";
import type { Partition } from "../leadership/partition.ts";
import type { Loop } from "../reactions/loop.ts";
import type { Follower, Peer } from "../readiness/readiness.ts";
import { Readiness } from "../readiness/readiness.ts";
import { ReadinessLines } from "../readiness/readiness-lines.ts";
import { migrate } from "../views/migrate.ts";
import { viewGauges } from "../views/view-telemetry.ts";
import { leaseOwner } from "./connections.ts";
import { type HealthChecks, type Listening, startHealthServer } from "./health-server.ts";
import type { ServingParts } from "./parts.ts";
import type { Service } from "./service.ts";
import type { Registry } from "./telemetry.ts";
import { serviceMetrics } from "./service-metrics.ts";
import { listenWaiting, onceAnswered, type StartDeps } from "./waiting-start.ts";

export type Serving = HealthChecks & {
  /** Aborts when the service begins to drain: open streams must end then, because closing a server waits for them. */
  readonly draining: AbortSignal;
};

export type ServicePlan = {
  readonly http: { readonly host: string; readonly port: number };
  /** The service's tables, and the folder of their migrations. */
  readonly tables?: { readonly pool: Pool; readonly migrations: string };
  /** The work of the one replica that holds the lease. */
  readonly partition?: Partition;
  /** The loops that run in every replica. */
  readonly loops?: readonly Loop[];
  /** The commands that every replica answers on the bus. */
  readonly commands?: CommandFunctions;
  /** Starts the service's HTTP server, which must also answer the health paths. Default: the health server. */
  readonly listen?: (serving: Serving) => Promise<Listening>;
  /** Starts an additional gRPC server. */
  readonly listenGrpc?: (serving: Serving) => Promise<Listening>;
  /** Runs after the migrations, before the server listens. */
  readonly prepare?: () => Promise<void>;
  /** Runs when everything has started, before the service is ready. */
  readonly started?: () => Promise<void>;
  /** Whether this replica decides, of a service that holds a lease without a partition. */
  readonly holdsLease?: () => boolean;
  /** Returns null when ready, otherwise the reason, in addition to the general checks. */
  readonly unready?: () => string | null;
  /** The readers of the log besides those of the partition. */
  readonly followers?: () => readonly Follower[];
  /** Servers that the process needs besides the database and the bus. */
  readonly peers?: readonly Peer[];
};

export type ListeningService = Service & {
  /** The service's address, once started. */
  address(): string;
  /** The service's gRPC address, once started; empty without gRPC. */
  grpcAddress(): string;
};

export function serviceOf(parts: ServingParts, plan: ServicePlan): ListeningService {
  const { name, stack, bus, logger, registry } = parts;
  const { http, partition, commands } = plan;
  const draining = new AbortController();
  let state: "starting" | "ready" | "draining" = "starting";
  let address = "";
  let grpcAddress = "";
  let begun: Promise<void> = Promise.resolve();
  const followers = (): readonly Follower[] => [
    ...(partition?.followers() ?? []),
    ...(plan.followers?.() ?? []),
  ];
  const holdsLease = (): boolean | null => partition?.holdsLease ?? plan.holdsLease?.() ?? null;
  const decides = (): boolean => partition?.holdsLease === true;
  const watched = new Readiness({ ...parts, peers: plan.peers ?? [], followers, decides });
  const readiness = (): string | null => {
    if (state !== "ready") return state;
    return watched.outage() ?? partition?.unready() ?? plan.unready?.() ?? watched.late();
  };
  serviceMetrics(registry, { watched, holdsLease, isReady: () => readiness() === null });
  const isStandby = (): boolean => partition?.active === false;
  const healthServer = (own: Serving) => startHealthServer(http, own, registry);
  const serving = { readiness, isStandby, draining: draining.signal };
  const open = async (listen: (own: Serving) => Promise<Listening>): Promise<string> =>
    stack.use(await listen(serving)).address;
  const told = new ReadinessLines(logger);
  const tell = (): void => {
    if (state === "ready") told.now(readiness(), { address, ...(grpcAddress && { grpcAddress }) });
  };
  const loops = [...(plan.loops ?? [])];
  if (partition !== undefined) {
    viewGauges(registry, () => partition.views);
    loops.push({ run: (signal) => partition.run(leaseOwner(name), signal) });
  }
  const start = async (): Promise<void> => {
    const starting = { ...parts, signal: draining.signal };
    await prepared(starting, plan, (opened) => {
      address = opened;
    });
    if (plan.listen === undefined) address = await open(healthServer);
    stack.use(runLoops(loops, parts));
    if (plan.listen !== undefined) address = await open(plan.listen);
    if (plan.listenGrpc !== undefined) grpcAddress = await open(plan.listenGrpc);
    if (commands !== undefined) {
      stack.use(await bus.serve(name, commandHandlers(name, commands, logger, parts)));
    }
    await onceAnswered(starting, async () => plan.started?.());
    await watched.look(draining.signal);
    if (state === "starting") state = "ready";
    stack.use(runLoops([{ run: (signal) => watched.run(signal, tell) }], parts));
    tell();
  };
  return {
    name,
    readiness,
    address: () => address,
    grpcAddress: () => grpcAddress,
    start: () => (begun = start()),
    async [Symbol.asyncDispose]() {
      state = "draining";
      draining.abort();
      // A start that waits for the database has ended its wait.
      await begun.catch(() => {});
      await stack.disposeAsync();
      logger.info("stopped");
    },
  };
}

/** Migrates and prepares; while the database is away, a server at the service's address says so. */
async function prepared(
  parts: StartDeps & { readonly name: string; readonly registry: Registry },
  { tables, prepare, http }: ServicePlan,
  opened: (address: string) => void,
): Promise<void> {
  const { name, registry } = parts;
  await using stack = new AsyncDisposableStack();
  let reason = "";
  const say = async (why: string): Promise<void> => {
    const isFirst = reason === "";
    reason = `starting: the database has not answered yet (${why})`;
    if (!isFirst) return;
    opened(stack.use(await listenWaiting(http, { readiness: () => reason }, registry)).address);
  };
  const step = async (): Promise<void> => {
    if (tables !== undefined)
      await migrate(tables.pool, name.replaceAll("-", "_"), tables.migrations);
    await prepare?.();
  };
  await onceAnswered(parts, step, say);
}

function runLoops(loops: readonly Loop[], { logger, tracer }: ServingParts): AsyncDisposable {
  const stop = new AbortController();
  const guarded = loops.map(async (loop) => {
    try {
      await loop.run(stop.signal, tracer);
    } catch (error) {
      logger.fatal({ err: error }, "loop_failed");
      throw error;
    }
  });
  const running = Promise.all(guarded);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}
