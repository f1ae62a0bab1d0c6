import type { MemoryHub } from "@trainyard/bus";
import type { MemoryLog } from "@trainyard/event-log";

/** A model of the relay: the log's events on the bus, in order; what a wiped or unreachable bus missed follows later. */
export async function startRelay(log: MemoryLog, hub: MemoryHub): Promise<void> {
  const bus = hub.connect("relay");
  let sent = 0;
  const carry = async (): Promise<void> => {
    const fresh = log.store.events.slice(sent);
    if (fresh.length === 0 || !bus.connected()) return;
    sent += fresh.length;
    try {
      await bus.publishEvents(fresh);
    } catch {
      // Wiped, or away again: what the bus holds says where to go on, and the next commit or link is when.
      const last = bus.connected() ? await bus.lastEvent() : null;
      sent = last?.position ?? 0;
    }
  };
  bus.onConnection(() => void carry());
  await log.as("relay").onAppended(() => void carry());
}
