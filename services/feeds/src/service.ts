import { join } from "node:path";
import {
  openParts,
  openTables,
  Partition,
  type Service,
  serviceOf,
  type TableOverrides,
  type Term,
} from "@trainyard/runtime";
import type { FeedsConfig } from "./config.ts";
import { commandTable } from "./shell/commands.ts";

const migrations = join(import.meta.dirname, "../migrations");

export async function createService(
  config: FeedsConfig,
  overrides: TableOverrides = {},
): Promise<Service> {
  const parts = await openParts("feeds", config, overrides);
  const { name } = parts;
  const pool = openTables(parts, config, overrides);
  const begin = async (): Promise<Term> => ({
    reactions: { handlers: {} },
    commands: commandTable(),
  });
  return serviceOf(parts, {
    http: config.http,
    tables: { pool, migrations },
    partition: new Partition(name, 0, parts, begin),
  });
}
