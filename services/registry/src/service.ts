import { join } from "node:path";
import { openDirectoryBlobStore } from "@trainyard/blob";
import {
  EventFeed,
  type ListeningService,
  openParts,
  openTables,
  Partition,
  serviceOf,
  type TableOverrides,
  type Term,
  type TermContext,
  viewCheck,
} from "@trainyard/runtime";
import type { RegistryConfig } from "./config.ts";
import { registryEvents } from "./events.ts";
import { commandTable } from "./shell/commands.ts";
import { startHttpServer } from "./shell/http.ts";
import { ManifestTable } from "./shell/manifest-table.ts";
import { Placed } from "./shell/placed.ts";
import { Unfinished } from "./shell/unfinished.ts";
import { Verifier } from "./shell/verifier.ts";
import { VerifyThread } from "./shell/verify-thread.ts";

const migrations = join(import.meta.dirname, "../migrations");

export async function createService(
  config: RegistryConfig,
  overrides: TableOverrides = {},
): Promise<ListeningService> {
  const parts = await openParts("registry", config, overrides);
  const { name, stack, log, bus, clock, logger, registry } = parts;
  const { http, checkpointDir, urlKey, abandonedGraceMs: graceMs } = config;
  const pool = openTables(parts, config, overrides);
  const events = registryEvents(logger, registry);
  const thread = stack.use(new VerifyThread());
  const verifier = new Verifier((place, files) => thread.verify(place, files), clock, events);
  const manifests = new ManifestTable(pool);
  const blobs = await openDirectoryBlobStore(config.blobDir);
  const publicUrl = (): string => config.publicUrl ?? service.address();
  const shared = { clock, events, checkpointDir };
  const begin = async ({ executor }: TermContext): Promise<Term> => {
    const unfinished = new Unfinished({ ...shared, executor, pool, logger, graceMs });
    const placed = new Placed({ log, pool, clock, logger });
    const decided = { executor, manifests, verifier, placed, blobs };
    return {
      reactions: { consumer: name, handlers: {} },
      commands: commandTable({ ...shared, ...decided, urlKey, publicUrl }),
      checks: [viewCheck(name, unfinished.view, log), viewCheck(name, placed.view, log)],
      views: [unfinished.view, placed.view],
      effects: async (signal) => {
        await using feed = await EventFeed.open(log, bus, clock, logger);
        await using other = await EventFeed.open(log, bus, clock, logger);
        await Promise.all([
          unfinished.view.run(feed, signal),
          unfinished.loop.run(signal),
          placed.view.run(other, signal),
        ]);
      },
    };
  };
  const service = serviceOf(parts, {
    http,
    tables: { pool, migrations },
    partition: new Partition(name, 0, parts, begin),
    listen: (health) => startHttpServer({ blobs, clock, urlKey, events, registry, health }, http),
  });
  return service;
}
