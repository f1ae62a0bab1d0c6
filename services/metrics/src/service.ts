import { join } from "node:path";
import {
  EventFeed,
  Executor,
  FoldCache,
  type ListeningService,
  LogFollower,
  openParts,
  openTables,
  Partition,
  serviceOf,
  type TableOverrides,
} from "@trainyard/runtime";
import type { MetricsConfig } from "./config.ts";
import { createTelemetry } from "./telemetry.ts";
import { startHttpServer } from "./shell/http.ts";
import { Ingest } from "./shell/ingest.ts";
import { PointTable } from "./shell/point-table.ts";
import { queryCommands } from "./shell/queries.ts";
import { reactions } from "./shell/reactions.ts";
import { systemQueryCommands } from "./shell/system-queries.ts";
import { SystemTable } from "./shell/system-table.ts";

const migrations = join(import.meta.dirname, "../migrations");

export async function createService(
  config: MetricsConfig,
  overrides: TableOverrides = {},
): Promise<ListeningService> {
  const parts = await openParts("metrics", config, overrides);
  const { name, stack, log, bus, clock, logger, registry } = parts;
  const pool = openTables(parts, config, overrides);
  const cache = new FoldCache(log);
  const feed = stack.use(await EventFeed.open(log, bus, clock, logger));
  const follower = new LogFollower(log, feed, cache, { clock, logger });
  const executor = new Executor(log, cache);
  const table = new PointTable(pool);
  const system = new SystemTable(pool);
  const ingest = new Ingest({ executor, bus, table, system, events: createTelemetry(registry) });
  const { http, runTokenKeys } = config;
  const face = { ingest, follower, runTokenKeys, logger, registry };
  return serviceOf(parts, {
    http,
    tables: { pool, migrations },
    partition: new Partition(name, 0, parts, async () => ({
      reactions: { consumer: name, handlers: reactions },
      commands: {},
    })),
    loops: [(signal) => follower.run(signal)],
    commands: {
      ...queryCommands({ table, cache, follower }),
      ...systemQueryCommands({ table, system }),
    },
    listen: (health) => startHttpServer({ ...face, health }, http),
  });
}
