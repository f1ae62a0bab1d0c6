import type { MemoryHub } from "@trainyard/bus/testing";
import type { MemoryLog } from "@trainyard/event-log/testing";
import { relay } from "@trainyard/service-relay/relay";
import type { ManualClock } from "@trainyard/testing";

const quiet = {
  published() {},
  resumed() {},
  refilling() {},
  rewound() {},
  failed() {},
  logAhead() {},
};

/** Starts the real relay, which never dies in this simulation. */
export function startRelay(log: MemoryLog, hub: MemoryHub, clock: ManualClock): void {
  const reportRewind = async (): Promise<void> => {};
  const deps = {
    log: log.as("relay"),
    bus: hub.connect("relay"),
    clock,
    events: quiet,
    reportRewind,
  };
  void relay(deps, new AbortController().signal);
}
