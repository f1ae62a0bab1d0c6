/**
 * How long the token of a run delivers what the run left: agents give up after a week (ADR 16), and a day later the
 * registry abandons what was not delivered.
 */
import { shortNameOf } from "@trainyard/contracts";
import type { EventLog } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import { type FoldCache, runtimeLimits } from "@trainyard/runtime";
import type { RunCaller } from "../../http/caller.ts";
import { Problem } from "../../http/problem.ts";
import { stops, taskStops } from "../../streams.ts";
import { hasEnded } from "./runs.ts";
import { apiLimits } from "../limits.ts";

type LateRunsDeps = {
  readonly log: Pick<EventLog, "read">;
  readonly cache: FoldCache;
  readonly clock: Clock;
};

/** Returns what tells whether a run has ended, and whether it still delivers. */
export const lifeOfRuns = (deps: LateRunsDeps) => ({
  hasEnded: (run: RunCaller) => hasEnded(deps.cache, run),
  requireInTime: (run: RunCaller) => requireInTime(deps, run),
});

/** Throws a Problem of 403 if the trial or the task of the run ended so long ago that the run delivers nothing more. */
export async function requireInTime(
  { log, cache, clock }: LateRunsDeps,
  run: RunCaller,
): Promise<void> {
  const [kind, id, fold] =
    run.task === null
      ? (["trial", run.trial, stops] as const)
      : (["task", run.task, taskStops] as const);
  const { state, version } = await cache.load(fold, id);
  if (!state.hasEnded) return;
  const after = Math.max(0, version - runtimeLimits.pageEvents);
  const events = await log.read(`${kind}-${id}`, after, runtimeLimits.pageEvents);
  const end = events.findLast(({ type }) => ends.has(shortNameOf(type)));
  if (end === undefined || clock.nowMs() - end.timeMs <= apiLimits.lateRunsMs) return;
  const days = apiLimits.lateRunsMs / 86_400_000;
  const detail = `${kind} ${id} ended more than ${days} days ago: its run delivers nothing any more`;
  throw new Problem(403, `${kind}_ended`, detail);
}

const ends: ReadonlySet<string> = new Set(["TrialEnded", "TaskEnded"]);
