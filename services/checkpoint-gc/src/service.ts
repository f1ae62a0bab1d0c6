import { join } from "node:path";
import { directoryDisk, type StorageDisk } from "@trainyard/blob";
import {
  EventFeed,
  leaseOwner,
  migrate,
  openParts,
  openTables,
  Partition,
  type Service,
  startHealthServer,
  type TableOverrides,
  type TermContext,
  type View,
  viewCheck,
  viewGauges,
} from "@trainyard/runtime";
import type { CheckpointGcConfig } from "./config.ts";
import { createTelemetry } from "./events.ts";
import { Deletion } from "./shell/deletion.ts";
import { CheckpointIndex } from "./shell/index-view.ts";
import { reactionHandlers } from "./shell/reactions.ts";

const name = "checkpoint-gc";

export async function createService(
  config: CheckpointGcConfig,
  overrides: TableOverrides & { readonly disk?: StorageDisk } = {},
): Promise<Service> {
  const stack = new AsyncDisposableStack();
  const { log, bus, clock, logger, registry } = await openParts(stack, name, config, overrides);
  const pool = openTables(stack, name, config, overrides, logger);
  const after = createTelemetry(logger, registry);
  /** Of the term that it holds, or held last. */
  let views: readonly View[] = [];
  viewGauges(registry, () => views);
  const disk = overrides.disk ?? directoryDisk;
  const stopping = new AbortController();
  let state: "starting" | "ready" | "draining" = "starting";
  const readiness = (): string | null => {
    if (state !== "ready") return state;
    return partition.ready ? null : "stopped: events in a row could not be processed";
  };
  const begin = async ({ executor }: TermContext) => {
    const wake = (adopted: boolean): void => deletion.wake(adopted);
    const index = new CheckpointIndex(pool, clock, logger, wake);
    views = [index.view];
    const deletion = new Deletion({ executor, log, clock, logger, disk }, index);
    const handlers = reactionHandlers({ index, clock, graceMs: config.graceMs });
    return {
      reactions: { consumer: name, handlers, after },
      commands: {},
      checks: [viewCheck(name, index.view, log)],
      views,
      effects: async (signal: AbortSignal) => {
        await using feed = await EventFeed.open(log, bus, clock, logger);
        await Promise.all([index.view.run(feed, signal), deletion.loop.run(signal)]);
      },
    };
  };
  const partition = new Partition(name, 0, { log, bus, clock, logger }, begin);
  return {
    name,
    async start() {
      await migrate(pool, "checkpoint_gc", join(import.meta.dirname, "../migrations"));
      stack.use(await startHealthServer(config.http, { readiness }, registry));
      const running = partition.run(leaseOwner(name), stopping.signal);
      stack.defer(() => running);
      state = "ready";
      logger.info("ready");
    },
    readiness,
    async [Symbol.asyncDispose]() {
      state = "draining";
      stopping.abort();
      await stack.disposeAsync();
      logger.info("stopped");
    },
  };
}
