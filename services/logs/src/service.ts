import { join } from "node:path";
import type { Bus } from "@trainyard/bus";
import {
  commandHandlers,
  createLogger,
  createRegistry,
  type Logger,
  migrate,
  openBus,
  openPool,
  type Service,
  startHealthServer,
} from "@trainyard/runtime";
import type { Pool } from "pg";
import type { LogsConfig } from "./config.ts";
import { logsEvents } from "./events.ts";
import { writeCommands } from "./shell/ingest.ts";
import { LineTable } from "./shell/line-table.ts";
import { queryCommands } from "./shell/queries.ts";

const name = "logs";

/** Given ones are the caller's to close. */
export type Overrides = {
  readonly bus?: Bus;
  readonly logger?: Logger;
  readonly pool?: Pool;
};

export async function createService(
  config: LogsConfig,
  overrides: Overrides = {},
): Promise<Service> {
  const stack = new AsyncDisposableStack();
  const logger = overrides.logger ?? createLogger(name, config.logLevel);
  const pool =
    overrides.pool ?? stack.adopt(openPool(config, name, logger), (opened) => opened.end());
  const bus = overrides.bus ?? stack.use(await openBus(config, name, logger));
  const registry = createRegistry(name);
  const table = new LineTable(pool);
  let state: "starting" | "ready" | "draining" = "starting";
  const readiness = (): string | null => (state === "ready" ? null : state);
  return {
    name,
    async start() {
      await migrate(pool, name, join(import.meta.dirname, "../migrations"));
      const events = logsEvents(registry);
      const { runTokenKeys } = config;
      const writes = writeCommands({ table, bus, events, runTokenKeys });
      const commands = { ...writes, ...queryCommands(table) };
      stack.use(await bus.serve(name, commandHandlers(name, commands, logger)));
      stack.use(await startHealthServer(config.http, { readiness }, registry));
      state = "ready";
      logger.info("ready");
    },
    readiness,
    async [Symbol.asyncDispose]() {
      // In reverse: commands end before what they need is closed.
      state = "draining";
      await stack.disposeAsync();
    },
  };
}
