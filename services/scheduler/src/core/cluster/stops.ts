/** The stops of an allocation: its trial's and the scheduler's own, which remain when the trial withdraws its stop. */
import type { AnyEvent, EventData } from "@trainyard/contracts";
import { StopMode } from "@trainyard/contracts/events";
import { least } from "../agent/use.ts";
import { isOwnStop } from "../allocation/own-stops.ts";
import { preemptionTimeoutOf } from "./demand.ts";
import { earlier } from "./earlier.ts";
import type { Allocation, Stop } from "./state.ts";

export function stopsAfter(
  { stop, ownStop }: Allocation,
  event: AnyEvent,
  timeMs: number,
): Partial<Allocation> {
  switch (event.type) {
    case "AllocationStopRequested": {
      const next = stopAfter(stop, event.data, timeMs);
      if (!isOwnStop(event.data.why)) return { stop: next };
      return { stop: next, ownStop: stopAfter(ownStop, event.data, timeMs) };
    }
    case "AllocationStopWithdrawn":
      return { stop: ownStop };
    case "AllocationStopAcknowledged":
      return { stopAcknowledged: true };
    default:
      return {};
  }
}

function stopAfter(
  before: Stop | null,
  { mode, why, graceMs }: EventData<"AllocationStopRequested">,
  timeMs: number,
): Stop {
  const kill = mode === StopMode.KILL;
  const asked = graceMs > 0 ? graceMs : null;
  const graceEndMs = asked === null ? null : timeMs + asked;
  return {
    why,
    kill,
    killAtMs: kill ? null : earlier(before?.killAtMs, graceEndMs),
    graceMs: least(before?.graceMs ?? null, asked),
  };
}

/** True if the run ends within its preemption timeout, after which it is killed. */
export function isLeaving({ stop, resources }: Allocation): boolean {
  if (stop === null) return false;
  return stop.kill || (stop.graceMs ?? Number.POSITIVE_INFINITY) <= preemptionTimeoutOf(resources);
}
