/**
 * Decides the next step of a trial. Every event that concerns a trial leads to this one rule.
 *
 * The step depends on the trial (its unended run, the end of the last one, its tries), on the experiment (running,
 * paused, stopping), on what the search wants (run, suspended, stopped), and on where a run would start. So it does not
 * matter in which order the events arrived, how often the rule is applied, or what happened meanwhile.
 *
 * An unended run that is not wanted is asked to stop, for the most severe reason. A graceful stop without a reason left
 * is withdrawn, unless the run has acknowledged it. Without an unended run, the trial may end. If it does not end and
 * is wanted to run, the next run is requested, but not on agents that a log policy has excluded. That request waits,
 * for a limited time, for checkpoints of the last run that are still being delivered: otherwise the run would start
 * from an older one. The wait does not delay the end of a trial, unless a new checkpoint would prevent it.
 */
import {
  Fault,
  RunEndWhy,
  StopKind,
  StopMode,
  StopWhy,
  TrialOutcome,
} from "@trainyard/contracts/events";
import { withoutAgents } from "@trainyard/experiment-config/recorded";
import { limits } from "../../limits.ts";
import type { ExperimentState } from "../experiment/state.ts";
import type { LogSignals } from "../foreign/log-signals.ts";
import { type SearchWant, stopOf } from "../foreign/search.ts";
import type { TrialCommand } from "../trial/commands.ts";
import type { LastEnd, Stop, TrialState } from "../trial/state.ts";
import { harshest } from "../trial/stops.ts";
import { afterRestarts, noHostText, type TryDelays, tryDelayMs } from "../trial/tries.ts";

/**
 * The place where a run would start. gone: the trial must start from another trial's checkpoint, which was deleted or
 * is damaged. `damaged`: the latest checkpoint of the trial's last run, if it is left out because it is damaged.
 */
export type Origin = (
  | { readonly kind: "nothing" }
  | { readonly kind: "checkpoint"; readonly checkpoint: string; readonly step: number }
  | { readonly kind: "gone"; readonly checkpoint: string; readonly why: "gone" | "damaged" }
) & { readonly damaged?: string };

export type NextStepInput = {
  readonly id: string;
  readonly trial: TrialState;
  readonly experiment: ExperimentState;
  /**
   * The state that the search wants; null if the search does not know the trial, so that only the experiment counts.
   */
  readonly search: SearchWant | null;
  readonly origin: Origin;
  /** Whether the unended run is ending because it was asked to stop, so that its stop cannot be withdrawn. */
  readonly acknowledged: boolean;
  /** Whether the last run has left checkpoints that may still complete, and the wait for them is not over. */
  readonly awaits: boolean;
  readonly signals: LogSignals;
  readonly delays: TryDelays;
};

export type Step = Extract<
  TrialCommand,
  { kind: "request_run" | "stop_run" | "withdraw_stop" | "end" }
>;

/** Returns the next step; null if nothing is to be done. */
export function nextStep(asked: NextStepInput): Step | null {
  const { trial } = asked;
  if (trial.status !== "open") return null;
  if (trial.unended !== null) {
    const stop = harshest(stopsWanted(asked));
    if (stop !== null) return { kind: "stop_run", stop };
    const isWithdrawn = trial.unended.stop?.mode === StopMode.GRACEFUL && !asked.acknowledged;
    return isWithdrawn ? { kind: "withdraw_stop" } : null;
  }
  return endWanted(asked) ?? runWanted(asked);
}

function graceful(why: StopWhy, graceMs: number): Stop {
  return { mode: StopMode.GRACEFUL, why, graceMs };
}

function stopsWanted({ trial, experiment, search, signals }: NextStepInput): readonly Stop[] {
  const stops: Stop[] = [];
  if (experiment.stop?.kind === StopKind.KILL || trial.kill !== undefined) {
    stops.push({ mode: StopMode.KILL, why: StopWhy.KILL, graceMs: 0 });
  } else if (isStopping(experiment)) {
    stops.push(graceful(StopWhy.CANCEL, limits.cancelGraceMs));
  }
  // A grace of 0 would never become a kill.
  const { preemptionTimeoutMs = limits.preemptionGraceMs } = experiment.plan.resources;
  const pauseGraceMs = Math.max(1, preemptionTimeoutMs);
  if (experiment.status === "paused") stops.push(graceful(StopWhy.PAUSE, pauseGraceMs));
  // The retry had started before the log line that forbids it was known.
  if (finalFailure(trial, signals) !== null) {
    stops.push(graceful(StopWhy.CANCEL, limits.cancelGraceMs));
  }
  if (stopOf(search) !== null) stops.push(graceful(StopWhy.SEARCH_STOP, limits.searchStopGraceMs));
  if (search === "suspended") {
    stops.push(graceful(StopWhy.SEARCH_SUSPEND, pauseGraceMs));
  }
  return stops;
}

export function isStopping(experiment: ExperimentState): boolean {
  return experiment.stop !== null || experiment.status === "ended";
}

/**
 * Decides whether and how the trial ends. A run that finished before it could be stopped counts as finished, unless the
 * search cannot use its reports.
 */
function endWanted({ trial, experiment, search, signals, awaits }: NextStepInput): Step | null {
  const { lastEnd } = trial;
  const stop = stopOf(search);
  if (stop?.fails === true && !isStopping(experiment)) {
    return end(TrialOutcome.FAILED, stop.stopped);
  }
  if (lastEnd?.why === RunEndWhy.FINISHED) return end(TrialOutcome.COMPLETED, "finished");
  if (isStopping(experiment)) {
    const reason = experiment.stop?.kind === StopKind.KILL ? "killed" : "canceled";
    return end(TrialOutcome.CANCELED, reason);
  }
  if (trial.kill !== undefined) return end(TrialOutcome.CANCELED, trial.kill || "killed");
  if (stop !== null) return end(TrialOutcome.STOPPED_EARLY, stop.stopped);
  if (lastEnd?.why === RunEndWhy.INVALID_HYPERPARAMETERS) {
    const reason = lastEnd.message || "the script cannot work with these hyperparameters";
    return end(TrialOutcome.INVALID_HYPERPARAMETERS, reason);
  }
  const final = finalFailure(trial, signals);
  if (final !== null) return end(TrialOutcome.FAILED, final);
  return lastEnd?.fault === undefined ? null : triesEnd(trial, lastEnd, experiment, awaits);
}

/**
 * Returns why a log policy makes a failure final; null if none does. The policy applies to the run whose line matched
 * and to all later runs. So a run that is preempted after its line, continued in a later run, and then fails is not
 * repeated either.
 */
function finalFailure(
  { tries: { failure }, continued }: TrialState,
  { finals }: LogSignals,
): string | null {
  // A person who had the trial restarted knows the lines of its earlier runs, so these do not count.
  const final = finals.find((one) => one.run > (continued?.runs ?? 0));
  if (failure === undefined || final === undefined || failure.run < final.run) return null;
  const { run, message } = failure;
  return `run ${run}: ${message || "it failed"} (not repeated: log policy ${JSON.stringify(final.policy)})`;
}

/**
 * Ends a trial whose script has used up its restarts, or whose runs neither hosts nor platform can carry. A checkpoint
 * that may still complete would begin a new row.
 */
function triesEnd(
  { tries }: TrialState,
  { run, message, fault, countsAsRestart }: LastEnd,
  { plan }: ExperimentState,
  awaits: boolean,
): Step | null {
  const { restarts, lost, agents } = tries;
  const what = `run ${run}: ${message || "it failed"}`;
  if (tries.hasNoHost) return end(TrialOutcome.FAILED, noHostText(tries, what));
  if (lost >= limits.lostTriesMax && !awaits) {
    const where = agents.length === 0 ? "" : ` (${agents.join(", ")})`;
    const reason = `${lost} attempts in a row made no new checkpoint because hosts, supervisors or services failed under the run${where}; ${what}`;
    return end(TrialOutcome.FAILED, reason);
  }
  if (!countsAsRestart || restarts < plan.maxRestarts) return null;
  const notes = [
    ...(restarts === 0 ? [] : [afterRestarts(restarts)]),
    ...(fault === Fault.SCRIPT
      ? []
      : [`blamed on hosts or platform, which excuses ${limits.excusedMax} failures of a trial`]),
  ];
  return end(TrialOutcome.FAILED, notes.length === 0 ? what : `${what} (${notes.join("; ")})`);
}

function end(outcome: TrialOutcome, reason: string): Step {
  return { kind: "end", outcome, reason };
}

function runWanted({
  id,
  trial,
  experiment,
  search,
  origin,
  awaits,
  signals,
  delays,
}: NextStepInput): Step | null {
  if (experiment.status !== "active" || search === "suspended" || awaits) return null;
  if (origin.kind === "gone") {
    const reason = `the checkpoint ${origin.checkpoint} that it has to start from is ${origin.why}`;
    return end(TrialOutcome.FAILED, reason);
  }
  const fault = trial.lastEnd?.fault;
  return {
    kind: "request_run",
    experiment: id.slice(0, id.indexOf(".")),
    resources: withoutAgents(experiment.plan.resources, [
      ...signals.excluded,
      ...trial.tries.lacking,
    ]),
    workspace: experiment.workspace,
    owner: experiment.owner,
    from:
      origin.kind === "checkpoint" ? { checkpoint: origin.checkpoint, step: origin.step } : null,
    ...(origin.damaged === undefined ? {} : { damaged: origin.damaged }),
    delayMs: fault === undefined ? 0 : tryDelayMs(trial.tries, fault, delays),
  };
}
