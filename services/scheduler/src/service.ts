import {
  leaseOwner,
  type Overrides,
  openParts,
  Partition,
  type Service,
  startHealthServer,
} from "@trainyard/runtime";
import type { SchedulerConfig } from "./config.ts";
import { createTelemetry } from "./events.ts";
import { beginTerm } from "./shell/term.ts";

export async function createService(
  config: SchedulerConfig,
  overrides: Overrides = {},
): Promise<Service> {
  const stack = new AsyncDisposableStack();
  const { log, bus, clock, logger, registry } = await openParts(
    stack,
    "scheduler",
    config,
    overrides,
  );
  const telemetry = createTelemetry(registry);
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
