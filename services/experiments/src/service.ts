import { join } from "node:path";
import type { Bus } from "@trainyard/bus";
import type { EventLog } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import {
  createLogger,
  createRegistry,
  type Logger,
  leaseOwner,
  migrate,
  openBus,
  openLog,
  openPool,
  Partition,
  type Service,
  startHealthServer,
  systemClock,
} from "@trainyard/runtime";
import type { Pool } from "pg";
import type { ExperimentsConfig } from "./config.ts";
import { createTelemetry } from "./events.ts";
import { postgresIds } from "./shell/experiment-ids.ts";
import { beginTerm } from "./shell/term.ts";

export type Overrides = {
  readonly log?: EventLog;
  readonly bus?: Bus;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly pool?: Pool;
};

export async function createService(
  config: ExperimentsConfig,
  overrides: Overrides = {},
): Promise<Service> {
  const stack = new AsyncDisposableStack();
  const stop = new AbortController();
  const clock = overrides.clock ?? systemClock;
  const logger = overrides.logger ?? createLogger("experiments", config.logLevel);
  const registry = createRegistry("experiments");
  const log = overrides.log ?? stack.use(openLog(config, "experiments"));
  const bus = overrides.bus ?? stack.use(await openBus(config, "experiments", logger));
  const pool =
    overrides.pool ?? stack.adopt(openPool(config, "experiments", logger), (own) => own.end());
  const begin = beginTerm({ ids: postgresIds(pool), count: createTelemetry(registry) });
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
