import { join } from "node:path";
import {
  DeletionHold,
  openParts,
  openTables,
  Partition,
  type Service,
  serviceOf,
  type TableOverrides,
} from "@trainyard/runtime";
import type { ExperimentsConfig } from "./config.ts";
import { createTelemetry } from "./telemetry.ts";
import { postgresIds } from "./shell/experiment-ids.ts";
import { beginTerm } from "./shell/leader.ts";

const migrations = join(import.meta.dirname, "../migrations");

export async function createService(
  config: ExperimentsConfig,
  overrides: TableOverrides = {},
): Promise<Service> {
  const parts = await openParts("experiments", config, overrides);
  const pool = openTables(parts, config, overrides);
  const telemetry = createTelemetry(parts.registry);
  const { deletionGraceMs, delays, tasksPerWorkspaceMax } = config;
  const own = { ids: postgresIds(pool), hold: new DeletionHold(parts), ...telemetry };
  const begin = beginTerm({ ...parts, ...own, deletionGraceMs, delays, tasksPerWorkspaceMax });
  return serviceOf(parts, {
    http: config.http,
    tables: { pool, migrations },
    partition: new Partition(parts.name, 0, parts, begin),
  });
}
