import { join } from "node:path";
import { ProcessDisk, StorageClaims, type StorageDisk, Stores } from "@trainyard/blob";
import {
  DeletionHold,
  LogIdentity,
  openParts,
  openTables,
  Partition,
  type Service,
  serviceOf,
  type TableOverrides,
  type Term,
  type TermContext,
} from "@trainyard/runtime";
import type { CheckpointGcConfig } from "./config.ts";
import { createTelemetry } from "./telemetry.ts";
import { commandTable } from "./shell/commands.ts";
import { Deletion } from "./shell/deletion.ts";
import { CheckpointIndex } from "./shell/index-view.ts";
import { leftoverLoop } from "./shell/leftovers.ts";
import { LogClock } from "./shell/log-time.ts";
import { reactionHandlers } from "./shell/reactions.ts";
import { Sweeper } from "./shell/sweeper.ts";
import { trials } from "./streams.ts";

const migrations = join(import.meta.dirname, "../migrations");

export async function createService(
  config: CheckpointGcConfig,
  overrides: TableOverrides & { readonly disk?: StorageDisk } = {},
): Promise<Service> {
  const parts = await openParts("checkpoint-gc", config, overrides);
  const { name, stack, log, clock, logger, registry } = parts;
  const pool = openTables(parts, config, overrides);
  const telemetry = createTelemetry(registry, logger);
  const disk = overrides.disk ?? stack.use(new ProcessDisk(clock));
  const stores = stack.use(new Stores({ clock, ...config.stores }));
  const hold = new DeletionHold(parts);
  const begin = async ({ executor }: TermContext): Promise<Term> => {
    executor.cache.follow(trials);
    const leftovers = leftoverLoop({ pool, clock, logger });
    const wake = (adopted: boolean): void => {
      deletion.wake(adopted);
      leftovers.wake();
    };
    const changed = (experiment: string): void => sweeper.changed(experiment);
    const index = new CheckpointIndex(pool, clock, logger, wake, changed);
    const time = new LogClock(log, clock, config.graceMs);
    const judging = { index, time, graceMs: config.graceMs };
    const sweeper = new Sweeper({ ...judging, clock, executor, logger });
    const claims = new StorageClaims(new LogIdentity(log));
    const deps = { executor, log, clock, time, logger, disk, stores, hold, claims };
    const deletion = new Deletion(deps, index);
    const handlers = reactionHandlers(judging);
    return {
      reactions: { handlers, after: telemetry.count },
      commands: commandTable({ ...judging, clock, executor, log }),
      views: [index.view],
      loops: [deletion.loop, sweeper.loop, leftovers],
    };
  };
  return serviceOf(parts, {
    http: config.http,
    tables: { pool, migrations },
    partition: new Partition(name, 0, parts, begin),
  });
}
