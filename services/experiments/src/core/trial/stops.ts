/**
 * Stops by severity. Of two stops the more severe one wins, and its time never exceeds the rest of the milder one's.
 */
import { StopMode, StopWhy } from "@trainyard/contracts/events";
import type { Stop } from "./state.ts";

const order: readonly StopWhy[] = [
  StopWhy.PAUSE,
  StopWhy.SEARCH_SUSPEND,
  StopWhy.SEARCH_STOP,
  StopWhy.CANCEL,
  StopWhy.KILL,
];

function rank({ mode, why }: Stop): number {
  return (mode === StopMode.KILL ? order.length : 0) + order.indexOf(why);
}

export function isHarsher(stop: Stop, than: Stop): boolean {
  return rank(stop) > rank(than);
}

/** The most severe of several stops; null for an empty list. */
export function harshest(stops: readonly Stop[]): Stop | null {
  return stops.reduce<Stop | null>(
    (worst, stop) => (worst === null || isHarsher(stop, worst) ? stop : worst),
    null,
  );
}
