import { join } from "node:path";
import {
  leaseOwner,
  migrate,
  openParts,
  openTables,
  Partition,
  type Service,
  startHealthServer,
  type TableOverrides,
} from "@trainyard/runtime";
import type { ExperimentsConfig } from "./config.ts";
import { createTelemetry } from "./events.ts";
import { postgresIds } from "./shell/experiment-ids.ts";
import { beginTerm } from "./shell/term.ts";

export async function createService(
  config: ExperimentsConfig,
  overrides: TableOverrides = {},
): Promise<Service> {
  const stack = new AsyncDisposableStack();
  const stop = new AbortController();
  const { log, bus, clock, logger, registry } = await openParts(
    stack,
    "experiments",
    config,
    overrides,
  );
  const pool = openTables(stack, "experiments", config, overrides, logger);
  const ids = postgresIds(pool);
  const begin = beginTerm({ log, clock, logger, ids, count: createTelemetry(registry) });
  const partition = new Partition("experiments", 0, { log, bus, clock, logger }, begin);
  let started = false;
  const readiness = (): string | null => {
    if (!started || stop.signal.aborted) return started ? "is draining" : "is starting";
    return partition.ready ? null : "stopped: three experiments in a row could not be processed";
  };

  return {
    name: "experiments",
    readiness,
    async start() {
      await migrate(pool, "experiments", join(import.meta.dirname, "../migrations"));
      stack.use(await startHealthServer(config.http, { readiness }, registry));
      const running = partition.run(leaseOwner("experiments"), stop.signal);
      stack.defer(() => running);
      started = true;
      logger.info("ready");
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await stack.disposeAsync();
      logger.info("stopped");
    },
  };
}
