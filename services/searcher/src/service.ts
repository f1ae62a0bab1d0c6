import type { Bus } from "@trainyard/bus";
import type { EventLog } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import {
  createLogger,
  createRegistry,
  type Logger,
  leaseOwner,
  openBus,
  openLog,
  Partition,
  type Service,
  startHealthServer,
  systemClock,
} from "@trainyard/runtime";
import type { SearcherConfig } from "./config.ts";
import { createTelemetry } from "./events.ts";
import { beginTerm } from "./shell/term.ts";

export type Overrides = {
  readonly log?: EventLog;
  readonly bus?: Bus;
  readonly clock?: Clock;
  readonly logger?: Logger;
};

export async function createService(
  config: SearcherConfig,
  overrides: Overrides = {},
): Promise<Service> {
  const stack = new AsyncDisposableStack();
  const stop = new AbortController();
  const clock = overrides.clock ?? systemClock;
  const logger = overrides.logger ?? createLogger("searcher", config.logLevel);
  const registry = createRegistry("searcher");
  const log = overrides.log ?? stack.use(openLog(config, "searcher"));
  const bus = overrides.bus ?? stack.use(await openBus(config, "searcher", logger));
  const begin = beginTerm({ log, logger, count: createTelemetry(registry) });
  const partition = new Partition("searcher", 0, { log, bus, clock, logger }, begin);
  let started = false;
  const readiness = (): string | null => {
    if (!started || stop.signal.aborted) return started ? "is draining" : "is starting";
    return partition.ready ? null : "stopped: three experiments in a row could not be processed";
  };

  return {
    name: "searcher",
    readiness,
    async start() {
      stack.use(await startHealthServer(config.http, { readiness }, registry));
      const running = partition.run(leaseOwner("searcher"), stop.signal);
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
