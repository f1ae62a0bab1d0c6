import {
  leaseOwner,
  type Overrides,
  openParts,
  Partition,
  type Service,
  startHealthServer,
} from "@trainyard/runtime";
import type { SearcherConfig } from "./config.ts";
import { createTelemetry } from "./events.ts";
import { ThreadModel } from "./shell/model/thread-model.ts";
import { beginTerm } from "./shell/term.ts";

export async function createService(
  config: SearcherConfig,
  overrides: Overrides = {},
): Promise<Service> {
  const stack = new AsyncDisposableStack();
  const stop = new AbortController();
  const { log, bus, clock, logger, registry } = await openParts(
    stack,
    "searcher",
    config,
    overrides,
  );
  const model = stack.use(new ThreadModel());
  const telemetry = createTelemetry(registry);
  const begin = beginTerm({ log, clock, logger, telemetry, model });
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
