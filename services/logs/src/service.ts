import { join } from "node:path";
import {
  openServingParts,
  openTables,
  type Service,
  serviceOf,
  type TableOverrides,
} from "@trainyard/runtime";
import type { LogsConfig } from "./config.ts";
import { createTelemetry } from "./telemetry.ts";
import { writeCommands } from "./shell/ingest.ts";
import { LineTable } from "./shell/line-table.ts";
import { LineFinder } from "./shell/line-search.ts";
import { Patterns } from "./shell/patterns.ts";
import { queryCommands } from "./shell/queries.ts";

const migrations = join(import.meta.dirname, "../migrations");

export type Overrides = Pick<TableOverrides, "bus" | "logger" | "pool">;

export async function createService(
  config: LogsConfig,
  overrides: Overrides = {},
): Promise<Service> {
  const parts = await openServingParts("logs", config, overrides);
  const { bus, registry, stack } = parts;
  const pool = openTables(parts, config, overrides);
  const table = new LineTable(pool);
  const finder = new LineFinder(table, stack.use(new Patterns("looks for expressions in lines")));
  const { http, runTokenKeys } = config;
  const writes = writeCommands({ table, bus, events: createTelemetry(registry), runTokenKeys });
  return serviceOf(parts, {
    http,
    tables: { pool, migrations },
    commands: { ...writes, ...queryCommands(finder) },
  });
}
