import {
  type KnownEvent,
  LeaseHolder,
  leaseOwner,
  type Overrides,
  openParts,
  sendRewind,
  type Service,
  serviceOf,
} from "@trainyard/runtime";
import type { RelayConfig } from "./config.ts";
import { createTelemetry } from "./telemetry.ts";
import { watchLogTime } from "./shell/log-time.ts";
import { relay } from "./shell/relay.ts";

export async function createService(
  config: RelayConfig,
  overrides: Overrides = {},
): Promise<Service> {
  const parts = await openParts("relay", config, overrides);
  const { name, log, clock, logger, registry } = parts;
  const reportRewind = (lost: KnownEvent): Promise<void> => sendRewind(parts, lost);
  const deps = { ...parts, events: createTelemetry(registry, logger), reportRewind };
  let position: number | null = null;
  const reached = (at: number): void => {
    position = at;
  };
  const holder = new LeaseHolder(log, clock, logger, `${name}/0`, leaseOwner(name));
  return serviceOf(parts, {
    http: config.http,
    loops: [
      {
        run: (signal) =>
          holder.run(signal, async ({ lost }) => {
            reached(0);
            await relay({ ...deps, reached }, lost);
            position = null;
          }),
      },
      { run: (signal) => watchLogTime(deps, signal) },
    ],
    followers: () => [{ name, position }],
    holdsLease: () => position !== null,
  });
}
