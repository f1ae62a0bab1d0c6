import { join } from "node:path";
import {
  BodyBudget,
  DeletionHold,
  EffectLoop,
  Executor,
  FoldCache,
  type ListeningService,
  LogFollower,
  LostRuns,
  openParts,
  openTables,
  type Parts,
  Partition,
  RunGrants,
  runtimeLimits,
  serviceOf,
  type TableOverrides,
} from "@trainyard/runtime";
import type { Pool } from "pg";
import type { MetricsConfig } from "./config.ts";
import { metricsLimits } from "./limits.ts";
import { createTelemetry } from "./telemetry.ts";
import { startHttpServer } from "./shell/http.ts";
import { startGrpc } from "./shell/grpc.ts";
import { Ingest } from "./shell/ingest.ts";
import { ReportRequests } from "./shell/report-requests.ts";
import { compactDue } from "./shell/compaction.ts";
import { PointStore } from "./shell/point-store.ts";
import { purgeDeleted } from "./shell/purge.ts";
import { nameQueryCommands } from "./shell/name-queries.ts";
import { queryCommands } from "./shell/queries.ts";
import { reactionHandlers } from "./shell/reactions.ts";
import { Retention } from "./shell/retention.ts";
import { runTables } from "./shell/run-tables.ts";
import { seriesQueryCommands } from "./shell/series-queries.ts";
import { systemQueryCommands } from "./shell/system-queries.ts";
import { streamQueryCommands } from "./shell/stream-queries.ts";
import { sweepStreams } from "./shell/stream-table.ts";
import { SystemTable } from "./shell/system-table.ts";

const migrations = join(import.meta.dirname, "../migrations");

export { parseConfig } from "./config.ts";

export async function createService(
  config: MetricsConfig,
  overrides: TableOverrides & { readonly compactionPauseMs?: number } = {},
): Promise<ListeningService> {
  const parts = await openParts("metrics", config, overrides);
  const { name, log, bus, logger, registry } = parts;
  const pool = openTables(parts, config.tables, overrides);
  const cache = new FoldCache(log);
  const follower = await LogFollower.open(cache, parts);
  const executor = new Executor(log, cache);
  const grants = new RunGrants(log, parts.clock);
  const lost = new LostRuns({ pool, log, grants, tables: runTables });
  const store = new PointStore(pool, lost);
  const system = new SystemTable(pool);
  const ingest = new Ingest({ executor, bus, store, events: createTelemetry(registry) });
  const { http, runTokenKeys } = config;
  const { compactionPauseMs = metricsLimits.compactionPauseMs } = overrides;
  const reportRequests = new ReportRequests({ ...parts, ingest, follower, grants, runTokenKeys });
  const bodies = new BodyBudget({
    smallBytes: metricsLimits.smallBodyBytes,
    smallBytesMax: metricsLimits.smallBodiesBytesMax,
    bytesMax: metricsLimits.largeBodiesBytesMax,
  });
  const face = { reportRequests, bodies, logger, registry };
  return serviceOf(parts, {
    http,
    tables: { pool, migrations },
    partition: new Partition(name, 0, parts, async () => ({
      reactions: { handlers: reactionHandlers(pool) },
      commands: {},
      loops: upkeep(pool, parts, lost, { ...config, compactionPauseMs }),
    })),
    loops: [follower],
    followers: () => [
      { name: "the follower of metrics", label: "reports", position: follower.position },
    ],
    commands: {
      ...queryCommands({ pool, cache, follower }),
      ...seriesQueryCommands({ pool, cache, follower }),
      ...nameQueryCommands({ pool }),
      ...systemQueryCommands({ store, system }),
      ...streamQueryCommands({ pool, cache }),
    },
    listen: (health) => startHttpServer({ ...face, health }, http),
    listenGrpc: (serving) => startGrpc(face, serving, { ...http, port: config.grpcPort }),
  });
}

/**
 * Returns the background work of one replica: it compacts tails to blocks, trims streams, and removes deleted and
 * expired points.
 */
function upkeep(
  pool: Pool,
  parts: Parts,
  lost: LostRuns,
  { retentionDays, compactionPauseMs }: MetricsConfig & { readonly compactionPauseMs: number },
): readonly EffectLoop[] {
  const { compactionRunsMax, purgePauseMs } = metricsLimits;
  const { streamSweptTails, streamSweepPauseMs } = metricsLimits;
  const compaction = new EffectLoop("compaction", parts, async () =>
    (await compactDue(pool, parts.logger)) === compactionRunsMax ? 0 : compactionPauseMs,
  );
  const hold = new DeletionHold(parts);
  const retention = new Retention({ ...parts, pool, retentionDays, hold });
  const sweep = new EffectLoop("stream-sweep", parts, async () =>
    (await sweepStreams(pool)) === streamSweptTails ? 0 : streamSweepPauseMs,
  );
  const purge = new EffectLoop("purge", parts, async () => {
    if ((await hold.reason()) !== null) return runtimeLimits.heldLookMs;
    return (await purgeDeleted({ pool, ...parts })) ? 0 : purgePauseMs;
  });
  const lostRuns = new EffectLoop("lost-runs", parts, async (signal) => {
    if ((await hold.reason()) !== null) return runtimeLimits.heldLookMs;
    const removed = await lost.sweep(signal);
    if (removed > 0) parts.logger.warn({ removed }, "lost_runs_removed");
    return purgePauseMs;
  });
  return [compaction, retention.loop, sweep, purge, lostRuns];
}
