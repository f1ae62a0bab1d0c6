/**
 * Decides what follows the end of a task's run: the next run, or the end of the task.
 *
 * A run that the scheduler stopped for others is queued again if the task keeps its work, since the next run continues
 * with it. Otherwise it is only if the task is preemptible: a person has to allow that it begins from the start. A run
 * that failed or was lost is repeated within `max_restarts`, which is 0 by default. A launch that waited for a service
 * of the platform has run nothing, so it is repeated without counting, a few times in a row. One on a host that lacks
 * something for good, as an image that is built on a host, is repeated once on each other host. A run whose folder
 * could not be saved is not repeated: its owner decides what to do with the folder.
 */
import { RunEndWhy, StopWhy, TaskOutcome } from "@trainyard/contracts/events";
import { limits } from "../../limits.ts";
import { afterLack, afterRestarts, noHostText } from "../trial/tries.ts";
import type { EndTaskRun } from "./commands.ts";
import type { TaskState } from "./state.ts";

export type AfterRun =
  | { readonly next: "run"; readonly countsAsRestart: boolean }
  | { readonly next: "end"; readonly outcome: TaskOutcome; readonly reason: string };

const again: AfterRun = { next: "run", countsAsRestart: false };

/** `row` is the number of failures in a row, including this end. */
export function afterRun(state: TaskState, ended: EndTaskRun, row: number): AfterRun {
  const { why, run, message, launchFailure, unsaved } = ended;
  const { plan, kill, pause, tries } = state;
  if (kill !== undefined && why !== RunEndWhy.FINISHED) {
    return end(TaskOutcome.KILLED, kill || "killed");
  }
  if (pause !== undefined && kill === undefined && why !== RunEndWhy.LOST) {
    return end(TaskOutcome.PAUSED, pause || "paused");
  }
  if (why === RunEndWhy.FINISHED) return end(TaskOutcome.COMPLETED, "finished");
  if (why === RunEndWhy.IDLE) {
    const outcome = plan.keepsWork ? TaskOutcome.PAUSED : TaskOutcome.COMPLETED;
    return end(outcome, message || "nobody used it");
  }
  if (why === RunEndWhy.WITHDRAWN) return again;
  const stop = stopOf(ended);
  const mayRepeat = pause === undefined && unsaved === undefined;
  if (stop !== null) {
    const repeats = stop.repeats && (plan.preemptible || plan.keepsWork);
    return repeats && mayRepeat ? again : failed(stop.sentence);
  }
  if (!mayRepeat) return failed(`run ${run}: ${message || "it failed"}`);
  if (launchFailure?.lasting === true) {
    const after = afterLack(tries, row, launchFailure);
    return after.hasNoHost ? failed(noHostText(after, `run ${run}: ${message}`)) : again;
  }
  if (launchFailure?.platformAway === true && row <= limits.lostTriesMax) return again;
  if (tries.restarts < plan.maxRestarts) return { next: "run", countsAsRestart: true };
  const after = tries.restarts === 0 ? "" : ` (${afterRestarts(tries.restarts)})`;
  return failed(`run ${run}: ${message || "it failed"}${after}`);
}

type Stop = { readonly repeats: boolean; readonly sentence: string };

const stops: Partial<Record<StopWhy, Stop>> = {
  [StopWhy.PREEMPTED]: { repeats: true, sentence: "it was preempted for another run" },
  [StopWhy.DRAIN]: { repeats: true, sentence: "its agent or slot was drained" },
  [StopWhy.TIME_LIMIT]: { repeats: false, sentence: "it reached its time limit" },
};

/** Returns the stop of the scheduler that ended the run; null if the run ended for another reason. */
function stopOf({ why, stopWhy }: EndTaskRun): Stop | null {
  const isStop = why === RunEndWhy.ACKNOWLEDGED_STOP || why === RunEndWhy.KILLED;
  return isStop && stopWhy !== null ? (stops[stopWhy] ?? null) : null;
}

function failed(reason: string): AfterRun {
  return end(TaskOutcome.FAILED, reason);
}

function end(outcome: TaskOutcome, reason: string): AfterRun {
  return { next: "end", outcome, reason };
}
