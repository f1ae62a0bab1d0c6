/** The parts of a service, opened from its configuration or provided by the caller. */
import type { Bus } from "@trainyard/bus";
import type { EventLog } from "@trainyard/event-log";
import type { Clock, Fault } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import type { Pool } from "pg";
import { type ConnectionsConfig, openBus, openLog, openPool } from "./connections.ts";
import type { Patience } from "../readiness/readiness.ts";
import { WriteWatch } from "../readiness/write-watch.ts";
import { createLogger, type Logger } from "../logging.ts";
import { openTracer } from "../tracing/open-tracer.ts";
import { tracedBus, tracedLog } from "../tracing/traced-ports.ts";
import type { Tracer } from "../tracing/tracer.ts";
import { version } from "./version.ts";
import { createRegistry, type Registry } from "./telemetry.ts";
import { type WorkMetrics, workMetrics } from "../telemetry/work-metrics.ts";

/** Provided parts, which the caller must close. */
export type Overrides = {
  readonly log?: EventLog;
  readonly bus?: Bus;
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** The patience of /readyz; only tests set it. */
  readonly patience?: Partial<Patience>;
};

/** The overrides of a service that also has tables. */
export type TableOverrides = Overrides & { readonly pool?: Pool };

/** The parts that `serviceOf` needs of every service. Everything opened for the service closes with its stack. */
export type ServingParts = {
  readonly name: string;
  readonly stack: AsyncDisposableStack;
  readonly bus: Bus;
  readonly logger: Logger;
  readonly registry: Registry;
  /** The metrics of appends and decisions, of a service that has a database. */
  readonly work?: WorkMetrics;
  readonly clock: Clock;
  readonly tracer: Tracer;
  /** The log, of a service that has a database. */
  readonly log?: EventLog;
  readonly writes?: WriteWatch;
  readonly patience?: Partial<Patience> | undefined;
};

export type Parts = ServingParts & { readonly log: EventLog; readonly work: WorkMetrics };

/** Opens the parts of a service that reads or writes the log. */
export async function openParts(
  name: string,
  config: ConnectionsConfig,
  overrides: Overrides,
): Promise<Parts> {
  const parts = await openServingParts(name, config, overrides);
  const writes = new WriteWatch(parts.clock);
  const work = workMetrics(parts.registry);
  const onAppend = (fault: Fault | null): void => writes.noted(fault);
  const hooks = { onAppend, appending: work.appending };
  const { stack, tracer } = parts;
  const opened = overrides.log ?? stack.use(openLog(config, name, hooks));
  const log = tracer.isOn ? tracedLog(opened, tracer) : opened;
  return { ...parts, log, work, writes };
}

/** Opens the parts of a service without the log. */
export async function openServingParts(
  name: string,
  config: ConnectionsConfig,
  overrides: Omit<Overrides, "log">,
): Promise<ServingParts> {
  const stack = new AsyncDisposableStack();
  const { clock = systemClock, patience } = overrides;
  const logger = overrides.logger ?? createLogger(name, config.logLevel, { clock });
  const registry = createRegistry(name);
  const tracer = await openTracer(name, config.tracing, {
    ...{ logger, registry, clock },
    version,
    stack,
  });
  const opened = overrides.bus ?? stack.use(await openBus(config, name, logger));
  const bus = tracer.isOn ? tracedBus(opened, tracer) : opened;
  return { name, stack, bus, logger, registry, clock, tracer, patience };
}

/** Opens the service's tables. */
export function openTables(
  { name, stack, logger }: ServingParts,
  config: ConnectionsConfig,
  overrides: Pick<TableOverrides, "pool">,
  connections?: number,
): Pool {
  if (overrides.pool !== undefined) return overrides.pool;
  return stack.adopt(openPool(config, name, logger, connections), (opened) => opened.end());
}
