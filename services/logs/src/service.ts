import { join } from "node:path";
import {
  DeletionHold,
  EffectLoop,
  Executor,
  FoldCache,
  LogFollower,
  LostRuns,
  openParts,
  openTables,
  RunGrants,
  runtimeLimits,
  type Service,
  serviceOf,
  type TableOverrides,
} from "@trainyard/runtime";
import type { LogsConfig } from "./config.ts";
import { logsLimits } from "./limits.ts";
import { createTelemetry } from "./telemetry.ts";
import { writeCommands } from "./shell/ingest.ts";
import { RetentionTable } from "./shell/retention-table.ts";
import { LineRuns, lineTables } from "./shell/line-runs.ts";
import { LineTable } from "./shell/line-table.ts";
import { LineFinder } from "./shell/line-search.ts";
import { LogPolicies } from "./shell/policies.ts";
import { logLives } from "./shell/lives.ts";
import { Patterns } from "./shell/patterns.ts";
import { Retention } from "./shell/retention.ts";
import { queryCommands } from "./shell/queries.ts";
import { WebhookPatterns } from "./shell/webhook-patterns.ts";
import { WordIndex } from "./shell/word-index.ts";

const migrations = join(import.meta.dirname, "../migrations");

export async function createService(
  config: LogsConfig,
  overrides: TableOverrides = {},
): Promise<Service> {
  const parts = await openParts("logs", config, overrides);
  const { bus, clock, log, logger, registry, stack } = parts;
  const pool = openTables(parts, config, overrides);
  const table = new LineTable(pool);
  const expressions = stack.use(new Patterns("looks for expressions in lines"));
  const words = new WordIndex(pool);
  const finder = new LineFinder(table, words, expressions);
  const { http, runTokenKeys, retention: settings } = config;
  const kept = new RetentionTable(pool);
  const hold = new DeletionHold(parts);
  const lives = logLives(pool, log);
  const retention = new Retention({ lives, kept, clock, logger, settings, hold });
  const { chunkPauseMs, chunkPausesPerStep, chunkIdleMs, lostRunsLookMs } = logsLimits;
  const indexing = new EffectLoop("log-words", parts, async () => {
    const startMs = clock.monotonicMs();
    if ((await words.index(logger)) === 0) return chunkIdleMs;
    return Math.max(chunkPauseMs, chunkPausesPerStep * (clock.monotonicMs() - startMs));
  });
  const events = createTelemetry(registry, logger);
  const cache = new FoldCache(log);
  const executor = new Executor(log, cache);
  const webhooks = new WebhookPatterns(log);
  const follower = await LogFollower.open(cache, {
    ...parts,
    begun: (position) => webhooks.read(position),
    observed: (event) => webhooks.observe(event),
  });
  const patterns = stack.use(new Patterns("looks for log policies in lines"));
  const policies = new LogPolicies({ log, executor, table, patterns, webhooks, events });
  const grants = new RunGrants(log, clock);
  const lost = new LostRuns({ pool, log, grants, tables: lineTables });
  const runs = new LineRuns(pool, lost);
  const lostRuns = new EffectLoop("lost-runs", parts, async (signal) => {
    if ((await hold.reason()) !== null) return runtimeLimits.heldLookMs;
    const removed = await lost.sweep(signal);
    if (removed > 0) logger.warn({ removed }, "lost_runs_removed");
    return lostRunsLookMs;
  });
  const writes = writeCommands({
    ...{ table, runs, grants, follower, policies, bus, events, runTokenKeys },
  });
  return serviceOf(parts, {
    http,
    tables: { pool, migrations },
    commands: { ...writes, ...queryCommands(finder, kept, expressions) },
    loops: [follower, retention.loop, indexing, lostRuns],
    followers: () => [{ name: "logs", position: follower.position }],
  });
}
