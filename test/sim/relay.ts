import type { MemoryHub } from "@trainyard/bus/testing";
import type { MemoryLog } from "@trainyard/event-log/testing";
import { type KnownEvent, sendRewind } from "@trainyard/runtime";
import { relay } from "@trainyard/service-relay/relay";
import type { ManualClock } from "@trainyard/testing";
import { pino } from "pino";

const logger = pino({ enabled: false });

const quiet = {
  published() {},
  resumed() {},
  refilling() {},
  rewound() {},
  failed() {},
  logAhead() {},
};

/**
 * Starts the real relay, which never dies in this simulation. Without a registry nobody answers its reports of a log
 * that went back, for which it would wait.
 */
export function startRelay(
  log: MemoryLog,
  hub: MemoryHub,
  clock: ManualClock,
  { hasRegistry } = { hasRegistry: false },
): void {
  const bus = hub.connect("relay");
  const reportRewind = async (lost: KnownEvent): Promise<void> => {
    if (hasRegistry) await sendRewind({ name: "relay", bus, logger }, lost);
  };
  const deps = { log: log.as("relay"), bus, clock, events: quiet, reportRewind };
  void relay(deps, new AbortController().signal);
}
