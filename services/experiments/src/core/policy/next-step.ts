/**
 * The next wish for a trial: the one rule by which every event that concerns a trial becomes a decision about it.
 *
 * It depends only on what the trial is (its unended run, how the last one ended, its restarts), on what is wanted of it
 * by the experiment (run, paused, stopping) and by the search (run, suspended, stopped), and on where a run would
 * start. So it does not matter in which order the wishes came, how often the rule is asked, or what happened meanwhile.
 *
 * A run that has not ended: is it wanted? If not, it is asked to stop, for the most severe reason; a stop that was
 * asked for is kept, also when the reason is gone before the run ends. Without one: ends the trial here? If not, and it
 * is wanted to run, the next run is requested (not on agents that a log policy has excluded), unless checkpoints that
 * the one before has left are still on their way: it would start from an older one. That waiting has an end, and does
 * not put off the end of a trial.
 */
import type { Plain } from "@trainyard/contracts";
import {
  type Resources,
  RunEndWhy,
  StopKind,
  StopMode,
  StopWhy,
  TrialOutcome,
} from "@trainyard/contracts/events";
import { limits } from "../../limits.ts";
import type { ExperimentState } from "../experiment/state.ts";
import type { LogSignals } from "../foreign/log-signals.ts";
import { type SearchWant, stopOf } from "../foreign/search.ts";
import type { TrialCommand } from "../trial/commands.ts";
import type { Stop, TrialState } from "../trial/state.ts";
import { harshest } from "../trial/stops.ts";

/** Where a run would start. gone: the checkpoint of another trial that it has to start from cannot be had any more. */
export type Origin =
  | { readonly kind: "nothing" }
  | { readonly kind: "checkpoint"; readonly checkpoint: string; readonly step: number }
  | { readonly kind: "gone"; readonly checkpoint: string };

export type Asked = {
  readonly id: string;
  readonly trial: TrialState;
  readonly experiment: ExperimentState;
  /** Null: the search does not know the trial, so that only the experiment's wishes count. */
  readonly search: SearchWant | null;
  readonly origin: Origin;
  /** The run before has left checkpoints that may yet be complete, and there is time. */
  readonly awaits: boolean;
  readonly signals: LogSignals;
};

export type Step = Extract<TrialCommand, { kind: "request_run" | "stop_run" | "end" }>;

/** Null when nothing is to be done. */
export function nextStep(asked: Asked): Step | null {
  const { trial } = asked;
  if (trial.status !== "open") return null;
  if (trial.unended !== null) {
    const stop = harshest(stopsWanted(asked));
    return stop === null ? null : { kind: "stop_run", stop };
  }
  return endWanted(asked) ?? runWanted(asked);
}

function graceful(why: StopWhy, graceMs: number): Stop {
  return { mode: StopMode.GRACEFUL, why, graceMs };
}

function stopsWanted({ trial, experiment, search, signals }: Asked): readonly Stop[] {
  const stops: Stop[] = [];
  if (experiment.stop?.kind === StopKind.KILL || trial.kill !== undefined) {
    stops.push({ mode: StopMode.KILL, why: StopWhy.KILL, graceMs: 0 });
  } else if (isStopping(experiment)) {
    stops.push(graceful(StopWhy.CANCEL, limits.cancelGraceMs));
  }
  if (experiment.status === "paused") {
    stops.push(graceful(StopWhy.PAUSE, limits.preemptionGraceMs));
  }
  // The retry had begun before the line was known that forbids it.
  if (finalFailure(trial, signals) !== null) {
    stops.push(graceful(StopWhy.CANCEL, limits.cancelGraceMs));
  }
  if (stopOf(search) !== null) stops.push(graceful(StopWhy.SEARCH_STOP, limits.searchStopGraceMs));
  if (search === "suspended") {
    stops.push(graceful(StopWhy.SEARCH_SUSPEND, limits.preemptionGraceMs));
  }
  return stops;
}

export function isStopping(experiment: ExperimentState): boolean {
  return experiment.stop !== null || experiment.status === "ended";
}

/**
 * Whether the trial ends here, and how. What a run achieved before it could be stopped counts first, unless the search
 * can make nothing of it.
 */
function endWanted({ trial, experiment, search, signals }: Asked): Step | null {
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
  const unlaunched = launchesEnd(trial);
  if (unlaunched !== null) return unlaunched;
  if (lastEnd?.countsAsRestart === true && trial.restarts >= experiment.plan.maxRestarts) {
    const what = lastEnd.message || "it failed";
    const after = trial.restarts === 0 ? "" : ` (after ${trial.restarts} restarts)`;
    return end(TrialOutcome.FAILED, `run ${lastEnd.run}: ${what}${after}`);
  }
  return null;
}

/**
 * Why a failure was the trial's last, by a log policy; null when none was. The policy counts for the run whose line
 * matched and for all later ones: one that was preempted after its line, and fails after it continued, is not repeated
 * either.
 */
function finalFailure(
  { lastFailure, continued }: TrialState,
  { finals }: LogSignals,
): string | null {
  // A person who has the trial taken up again has seen the lines of its runs before that.
  const final = finals.find((one) => one.run > (continued?.runs ?? 0));
  if (lastFailure === undefined || final === undefined || lastFailure.run < final.run) return null;
  const { run, message } = lastFailure;
  return `run ${run}: ${message || "it failed"} (not repeated: log policy ${JSON.stringify(final.policy)})`;
}

/** It could be launched nowhere, or not where it can go at all: more attempts would only take others' time. */
function launchesEnd({ lastEnd, unlaunched }: TrialState): Step | null {
  if (lastEnd === null || unlaunched === undefined) return null;
  const { attempts, agents } = unlaunched;
  const isEverywhere = agents.length >= limits.launchAgentsMax;
  if (!isEverywhere && attempts < limits.launchAttemptsMax) return null;
  const where =
    agents.length === 0
      ? ""
      : ` on ${agents.length === 1 ? "agent" : "agents"} ${agents.join(", ")}`;
  const tries = isEverywhere ? "" : ` in ${attempts} attempts`;
  const why = lastEnd.message === "" ? "" : `: ${lastEnd.message}`;
  return end(TrialOutcome.FAILED, `run ${lastEnd.run} could not be launched${where}${tries}${why}`);
}

function end(outcome: TrialOutcome, reason: string): Step {
  return { kind: "end", outcome, reason };
}

function runWanted({ id, experiment, search, origin, awaits, signals }: Asked): Step | null {
  if (experiment.status !== "active" || search === "suspended" || awaits) return null;
  if (origin.kind === "gone") {
    const reason = `the checkpoint ${origin.checkpoint} that it has to start from is gone`;
    return end(TrialOutcome.FAILED, reason);
  }
  return {
    kind: "request_run",
    experiment: id.slice(0, id.indexOf(".")),
    resources: withoutAgents(experiment.plan.resources, signals.excluded),
    workspace: experiment.workspace,
    owner: experiment.owner,
    from:
      origin.kind === "checkpoint" ? { checkpoint: origin.checkpoint, step: origin.step } : null,
  };
}

const unconstrained = {
  device: "",
  deviceMemoryBytes: 0,
  required: [],
  preferred: [],
  forbidden: [],
  excludedAgents: [],
  sameLabel: "",
};

function withoutAgents(resources: Plain<Resources>, agents: readonly string[]): Plain<Resources> {
  if (agents.length === 0) return resources;
  const constraints = resources.constraints ?? unconstrained;
  const excludedAgents = [...new Set([...constraints.excludedAgents, ...agents])];
  return { ...resources, constraints: { ...constraints, excludedAgents } };
}
