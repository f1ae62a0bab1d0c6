import { StopWhy } from "@trainyard/contracts/events";

const own: readonly StopWhy[] = [StopWhy.PREEMPTED, StopWhy.DRAIN, StopWhy.TIME_LIMIT];

/** True for a stop that the scheduler requests itself; the trial cannot withdraw it. */
export function isOwnStop(why: StopWhy): boolean {
  return own.includes(why);
}
