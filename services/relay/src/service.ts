import type { Bus } from "@trainyard/bus";
import type { EventLog } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import {
  createLogger,
  createRegistry,
  LeaseHolder,
  type Logger,
  leaseOwner,
  openBus,
  openLog,
  type Service,
  startHealthServer,
  systemClock,
} from "@trainyard/runtime";
import type { RelayConfig } from "./config.ts";
import { relayEvents } from "./events.ts";
import { relay } from "./shell/relay.ts";

const name = "relay";

/** Given ones are the caller's to close. */
export type Overrides = {
  readonly log?: EventLog;
  readonly bus?: Bus;
  readonly clock?: Clock;
  readonly logger?: Logger;
};

export async function createService(
  config: RelayConfig,
  overrides: Overrides = {},
): Promise<Service> {
  const stack = new AsyncDisposableStack();
  const clock = overrides.clock ?? systemClock;
  const logger = overrides.logger ?? createLogger(name, config.logLevel);
  const log = overrides.log ?? stack.use(openLog(config, name));
  const bus = overrides.bus ?? stack.use(await openBus(config, name, logger));
  const registry = createRegistry(name);
  const events = relayEvents(logger, registry);
  const holder = new LeaseHolder(log, clock, logger, `${name}/0`, leaseOwner(name));
  const stopping = new AbortController();
  let started = false;
  const readiness = (): string | null => {
    if (stopping.signal.aborted) return "draining";
    return started ? null : "starting";
  };
  return {
    name,
    async start() {
      stack.use(await startHealthServer(config.http, { readiness }, registry));
      const running = holder.run(stopping.signal, ({ lost }) =>
        relay({ log, bus, clock, events }, lost),
      );
      stack.defer(async () => {
        stopping.abort();
        await running;
      });
      started = true;
    },
    readiness,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await stack.disposeAsync();
    },
  };
}
