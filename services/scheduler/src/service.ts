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
import type { SchedulerConfig } from "./config.ts";
import { createTelemetry } from "./events.ts";
import { beginTerm } from "./shell/term.ts";

export type SchedulerOverrides = {
  readonly log?: EventLog;
  readonly bus?: Bus;
  readonly clock?: Clock;
  readonly logger?: Logger;
};

export async function createService(
  config: SchedulerConfig,
  overrides: SchedulerOverrides = {},
): Promise<Service> {
  const stack = new AsyncDisposableStack();
  const clock = overrides.clock ?? systemClock;
  const logger = overrides.logger ?? createLogger("scheduler", config.logLevel);
  const registry = createRegistry("scheduler");
  const telemetry = createTelemetry(registry);
  const log = overrides.log ?? stack.use(openLog(config, "scheduler"));
  const bus = overrides.bus ?? stack.use(await openBus(config, "scheduler", logger));
  const owner = leaseOwner("scheduler");
  const { tokenKey, agentSilenceMs } = config;
  const deps = { log, bus, clock, logger, telemetry };
  const partition = new Partition("scheduler", 0, deps, (context) =>
    beginTerm(deps, { tokenKey, agentSilenceMs, owner }, context),
  );
  const stop = new AbortController();
  const readiness = (): string | null => (partition.ready ? null : "reactions are stopped");

  return {
    name: "scheduler",
    readiness,
    async start() {
      stack.use(await startHealthServer(config.http, { readiness }, registry));
      const running = partition.run(owner, stop.signal);
      running.catch((error: unknown) => logger.error({ err: error }, "partition_failed"));
      stack.defer(async () => {
        stop.abort();
        await running;
      });
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await stack.disposeAsync();
    },
  };
}
