/**
 * The rules of deadlines: nothing happens before it is due, whatever the clocks of the hosts say. Time is measured by
 * the simulation's clock at the moments when events were written. If a service may have died meanwhile, the times in
 * the events count too: a new term knows only these, so it takes a jump of the log's clock for passed time.
 */
import { type AnyEvent, decodeEvent } from "@trainyard/contracts";
import { StopMode, StopWhy } from "@trainyard/contracts/events";
import type { StoredEvent } from "@trainyard/event-log";
import { categoryOf, idOf } from "@trainyard/kernel";

/** The time at which each event was written, by its id, on the monotonic clock of the simulation. */
export type Moments = ReadonlyMap<string, number>;

/** The longest delay of a due event if no process dies: a few beats of the scheduler. */
const lateMs = 5_000;
/** The rounding of timers and of the log's milliseconds. */
const roundingMs = 2;

/** A time on the simulation's clock and on the log's. */
type Time = { readonly atMs: number; readonly logMs: number };
type Facts = {
  kill: Time | null;
  /** The kill of the scheduler's own stops, which remain when the trial withdraws its stop. */
  ownKill: Time | null;
  place: Time | null;
  isKilled: boolean;
  isOver: boolean;
};

/** The reasons of stops that the scheduler requests itself. */
export const ownWhys: readonly StopWhy[] = [StopWhy.PREEMPTED, StopWhy.DRAIN, StopWhy.TIME_LIMIT];

/** `isCalm` is true if no process dies and nothing is delayed. */
export function deadlineViolations(
  events: readonly StoredEvent[],
  moments: Moments,
  isCalm: boolean,
): readonly string[] {
  const allocations = new Map<string, Facts>();
  const violations: string[] = [];
  let now: Time = { atMs: 0, logMs: 0 };
  for (const stored of events) {
    now = { atMs: moments.get(stored.id) ?? now.atMs, logMs: stored.timeMs };
    if (categoryOf(stored.stream) !== "allocation") continue;
    const id = idOf(stored.stream);
    const facts = allocations.get(id) ?? {
      kill: null,
      ownKill: null,
      place: null,
      isKilled: false,
      isOver: false,
    };
    allocations.set(id, facts);
    const early = judge(facts, decodeEvent(stored), now, isCalm);
    if (early > 0) violations.push(`${stored.position} ${stored.stream}: ${early} ms too early`);
  }
  for (const [id, { kill, isKilled, isOver }] of allocations) {
    if (!isCalm || kill === null || isKilled || isOver) continue;
    const late = now.atMs - kill.atMs;
    if (late > lateMs) violations.push(`allocation ${id} was to be killed ${late} ms ago`);
  }
  return violations;
}

/** Returns how much too early an event came, and updates the facts. */
function judge(facts: Facts, event: AnyEvent, now: Time, isCalm: boolean): number {
  const early = (due: Time | null): number => {
    if (due === null) return 0;
    const leftMs = due.atMs - now.atMs;
    const left = isCalm ? leftMs : Math.min(leftMs, due.logMs - now.logMs);
    return left > roundingMs ? left : 0;
  };
  switch (event.type) {
    case "AllocationQueued":
      facts.place = after(now, event.data.delayMs);
      return 0;
    case "AllocationGranted":
      return early(facts.place);
    case "AllocationStopRequested": {
      const { mode, why, graceMs } = event.data;
      if (mode === StopMode.GRACEFUL) {
        // A grace of 0 means never.
        if (graceMs === 0) return 0;
        facts.kill = earlier(facts.kill, after(now, graceMs));
        if (ownWhys.includes(why)) facts.ownKill = earlier(facts.ownKill, after(now, graceMs));
        return 0;
      }
      facts.isKilled = true;
      return why === StopWhy.KILL ? 0 : early(facts.kill);
    }
    case "AllocationStopWithdrawn":
      facts.kill = facts.ownKill;
      return 0;
    case "AllocationEnded":
      facts.isOver = true;
      return 0;
    default:
      return 0;
  }
}

function after({ atMs, logMs }: Time, forMs: number): Time {
  return { atMs: atMs + forMs, logMs: logMs + forMs };
}

function earlier(a: Time | null, b: Time): Time {
  if (a === null) return b;
  return { atMs: Math.min(a.atMs, b.atMs), logMs: Math.min(a.logMs, b.logMs) };
}
