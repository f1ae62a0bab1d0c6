/** What every service works with: opened as configured, or given by whoever puts the service together otherwise. */
import type { Bus } from "@trainyard/bus";
import type { EventLog } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import type { Pool } from "pg";
import type { Registry } from "prom-client";
import { systemClock } from "../clock.ts";
import { type ConnectionsConfig, openBus, openLog, openPool } from "./connections.ts";
import { createLogger, type Logger } from "./logging.ts";
import { createRegistry } from "./telemetry.ts";

/** Given ones are the caller's to close. */
export type Overrides = {
  readonly log?: EventLog;
  readonly bus?: Bus;
  readonly clock?: Clock;
  readonly logger?: Logger;
};

/** Of a service that has tables of its own, too. */
export type TableOverrides = Overrides & { readonly pool?: Pool };

export type Parts = {
  readonly log: EventLog;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
};

/** What is opened here closes with the stack. */
export async function openParts(
  stack: AsyncDisposableStack,
  service: string,
  config: ConnectionsConfig,
  overrides: Overrides,
): Promise<Parts> {
  const logger = overrides.logger ?? createLogger(service, config.logLevel);
  return {
    logger,
    clock: overrides.clock ?? systemClock,
    registry: createRegistry(service),
    log: overrides.log ?? stack.use(openLog(config, service)),
    bus: overrides.bus ?? stack.use(await openBus(config, service, logger)),
  };
}

/** The service's own tables; closes with the stack unless it was given. */
export function openTables(
  stack: AsyncDisposableStack,
  service: string,
  config: ConnectionsConfig,
  overrides: TableOverrides,
  logger: Logger,
): Pool {
  return overrides.pool ?? stack.adopt(openPool(config, service, logger), (opened) => opened.end());
}
