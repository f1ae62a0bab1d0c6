import { join } from "node:path";
import {
  commandHandlers,
  EventFeed,
  Executor,
  FoldCache,
  leaseOwner,
  LogFollower,
  migrate,
  openParts,
  openTables,
  Partition,
  type Service,
  type TableOverrides,
} from "@trainyard/runtime";
import type { MetricsConfig } from "./config.ts";
import { metricsEvents } from "./events.ts";
import { createHttpServer } from "./shell/http.ts";
import { Ingest } from "./shell/ingest.ts";
import { PointTable } from "./shell/point-table.ts";
import { queryCommands } from "./shell/queries.ts";
import { reactions } from "./shell/reactions.ts";
import { systemQueryCommands } from "./shell/system-queries.ts";
import { SystemTable } from "./shell/system-table.ts";

const name = "metrics";

export type MetricsService = Service & {
  /** Where it listens, once started. */
  address(): string;
};

export async function createService(
  config: MetricsConfig,
  overrides: TableOverrides = {},
): Promise<MetricsService> {
  const stack = new AsyncDisposableStack();
  const { log, bus, clock, logger, registry } = await openParts(stack, name, config, overrides);
  const pool = openTables(stack, name, config, overrides, logger);
  const cache = new FoldCache(log);
  const table = new PointTable(pool);
  const system = new SystemTable(pool);
  const stopping = new AbortController();
  let state: "starting" | "ready" | "draining" = "starting";
  const readiness = (): string | null => (state === "ready" ? null : state);
  let address = "";
  return {
    name,
    async start() {
      await migrate(pool, "metrics", join(import.meta.dirname, "../migrations"));
      const feed = stack.use(await EventFeed.open(log, bus, clock, logger));
      const follower = new LogFollower(log, feed, cache, { clock, logger });
      const executor = new Executor(log, cache);
      const ingest = new Ingest({ executor, bus, table, system, events: metricsEvents(registry) });
      const commands = {
        ...queryCommands({ table, cache, follower }),
        ...systemQueryCommands({ table, system }),
      };
      const partition = new Partition(name, 0, { log, bus, clock, logger }, async () => ({
        reactions: { consumer: name, handlers: reactions },
        commands: {},
      }));
      const running = [
        follower.run(stopping.signal),
        partition.run(leaseOwner(name), stopping.signal),
      ];
      stack.defer(async () => {
        stopping.abort();
        await Promise.all(running);
      });
      stack.use(await bus.serve(name, commandHandlers(name, commands, logger)));
      const { runTokenKeys } = config;
      const health = { readiness: () => readiness() ?? (partition.ready ? null : "parked") };
      const server = createHttpServer({ ingest, follower, runTokenKeys, logger, registry, health });
      stack.defer(() => server.close());
      address = await server.listen(config.http);
      state = "ready";
      logger.info({ address }, "ready");
    },
    readiness,
    address: () => address,
    async [Symbol.asyncDispose]() {
      // In reverse: requests end before what they need is closed.
      state = "draining";
      await stack.disposeAsync();
    },
  };
}
