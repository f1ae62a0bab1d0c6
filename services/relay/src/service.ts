import {
  LeaseHolder,
  leaseOwner,
  type Overrides,
  openParts,
  type Service,
  startHealthServer,
} from "@trainyard/runtime";
import type { RelayConfig } from "./config.ts";
import { relayEvents } from "./events.ts";
import { watchLogTime } from "./shell/log-time.ts";
import { relay } from "./shell/relay.ts";

const name = "relay";

export async function createService(
  config: RelayConfig,
  overrides: Overrides = {},
): Promise<Service> {
  const stack = new AsyncDisposableStack();
  const { log, bus, clock, logger, registry } = await openParts(stack, name, config, overrides);
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
      const watching = watchLogTime({ log, clock, events }, stopping.signal);
      stack.defer(async () => {
        stopping.abort();
        await Promise.all([running, watching]);
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
