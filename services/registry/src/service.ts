import { join } from "node:path";
import { openDirectoryBlobStore } from "@trainyard/blob";
import {
  EventFeed,
  leaseOwner,
  migrate,
  openParts,
  openTables,
  Partition,
  type Service,
  type TableOverrides,
  type TermContext,
  type View,
  viewCheck,
  viewGauges,
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

const name = "registry";

export type RegistryService = Service & {
  /** Where it listens, once started. */
  address(): string;
};

export async function createService(
  config: RegistryConfig,
  overrides: TableOverrides = {},
): Promise<RegistryService> {
  const stack = new AsyncDisposableStack();
  const { log, bus, clock, logger, registry } = await openParts(stack, name, config, overrides);
  const pool = openTables(stack, name, config, overrides, logger);
  const events = registryEvents(logger, registry);
  const thread = stack.use(new VerifyThread());
  const verifier = new Verifier((place, files) => thread.verify(place, files), clock, events);
  const manifests = new ManifestTable(pool);
  const { checkpointDir, urlKey } = config;
  const stopping = new AbortController();
  let state: "starting" | "ready" | "draining" = "starting";
  let address = "";
  /** Of the term that it holds, or held last. */
  let views: readonly View[] = [];
  viewGauges(registry, () => views);
  const readiness = (): string | null => {
    if (state !== "ready") return state;
    return partition.ready ? null : "stopped: events in a row could not be processed";
  };
  const begin = async ({ executor }: TermContext) => {
    const { abandonedGraceMs: graceMs } = config;
    const unfinished = new Unfinished({
      ...{ executor, pool, clock, logger, events },
      checkpointDir,
      graceMs,
    });
    const placed = new Placed({ log, pool, clock, logger });
    views = [unfinished.view, placed.view];
    const blobs = await openDirectoryBlobStore(config.blobDir);
    const publicUrl = (): string => config.publicUrl ?? address;
    const own = { checkpointDir, urlKey, publicUrl };
    return {
      reactions: { consumer: name, handlers: {} },
      commands: commandTable({
        executor,
        manifests,
        verifier,
        placed,
        blobs,
        clock,
        events,
        ...own,
      }),
      checks: views.map((view) => viewCheck(name, view, log)),
      views,
      effects: async (signal: AbortSignal) => {
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
  const partition = new Partition(name, 0, { log, bus, clock, logger }, begin);
  return {
    name,
    async start() {
      await migrate(pool, "registry", join(import.meta.dirname, "../migrations"));
      const blobs = await openDirectoryBlobStore(config.blobDir);
      const health = { readiness };
      const deps = { blobs, clock, urlKey, events, registry, health };
      ({ address } = stack.use(await startHttpServer(deps, config.http)));
      const running = partition.run(leaseOwner(name), stopping.signal);
      stack.defer(() => running);
      state = "ready";
      logger.info({ address }, "ready");
    },
    readiness,
    address: () => address,
    async [Symbol.asyncDispose]() {
      state = "draining";
      stopping.abort();
      await stack.disposeAsync();
      logger.info("stopped");
    },
  };
}
