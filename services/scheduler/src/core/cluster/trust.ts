/**
 * The failures on an agent since the last run that did well there. The failures of one experiment may be its own.
 * Failures of several experiments, or of several trials of an experiment that does well elsewhere, are blamed on the
 * agent: it gets no runs for a while, twice as long each time, until a run does well there or a person marks it as
 * repaired. All times are times of events.
 */
import type { EventData } from "@trainyard/contracts";
import { limits } from "../../limits.ts";

/** A run that could not be launched on the agent, or failed there soon after its start. */
export type HostFailure = {
  readonly experiment: string;
  readonly task: string;
  readonly atMs: number;
  /** True if the run was not launched. */
  readonly launch: boolean;
};

export type Trust = {
  /** The last failures, the latest at the end. */
  readonly failures: readonly HostFailure[];
  /** The reason of the last failure. */
  readonly reason: string;
  /** The number of times that the agent was recorded as distrusted. */
  readonly times: number;
  /** The time until which the agent gets no runs; null if it was never distrusted. */
  readonly untilMs: number | null;
  /** True if the distrust of the agent has to be recorded. */
  readonly isDue: boolean;
  /** The reason why the agent is trusted again, which has to be recorded; null for none. */
  readonly mended: string | null;
};

export const fullTrust: Trust = {
  failures: [],
  reason: "",
  times: 0,
  untilMs: null,
  isDue: false,
  mended: null,
};

/** Questions about the other agents, asked when an agent is judged. */
export type Others = {
  /** True if no other agent of the pool is usable: failed runs are then not held against the agent. */
  readonly none: () => boolean;
  /** True if a run of the experiment does well on another agent. */
  readonly doWell: () => boolean;
};

export function afterFailure(
  trust: Trust,
  { reason, ...failure }: HostFailure & { readonly reason: string },
  others: Others,
): Trust {
  const failures = [...trust.failures, failure].slice(-limits.hostFailuresMax);
  const after = { ...trust, failures, reason, mended: null };
  return { ...after, isDue: trust.isDue || isToBlame(after, failure, others) };
}

function isToBlame(
  { failures, times, untilMs }: Trust,
  last: HostFailure,
  others: Others,
): boolean {
  // A run under way when the agent was distrusted gives no new information.
  if (untilMs !== null && last.atMs < untilMs) return false;
  const isAlone = others.none();
  if (isAlone && !last.launch) return false;
  if (times > 0) return true;
  const counted = failures.filter(({ launch }) => launch || !isAlone);
  const experiments = new Set(counted.map(({ experiment }) => experiment));
  if (experiments.size >= limits.distrustExperiments) return true;
  return !isAlone && hasManyTrials(counted, last.experiment) && others.doWell();
}

/** A run of the experiment did well on another agent. */
export function afterSuccessElsewhere(
  trust: Trust,
  experiment: string,
  isAlone: () => boolean,
): Trust {
  const isNew = trust.times === 0 && hasManyTrials(trust.failures, experiment);
  return isNew && !isAlone() ? { ...trust, isDue: true } : trust;
}

function hasManyTrials(failures: readonly HostFailure[], experiment: string): boolean {
  const own = failures.filter((failure) => failure.experiment === experiment);
  return new Set(own.map(({ task }) => task)).size >= limits.distrustTrials;
}

/** A start says nothing about failures after the start. */
export function afterStart(trust: Trust): Trust {
  if (trust.times > 0 || trust.failures.length === 0) return trust;
  return { ...trust, failures: trust.failures.filter(({ launch }) => !launch), isDue: false };
}

/** A run that began at this time did well: what failed before that no longer counts. */
export function afterSuccess(trust: Trust, startedAtMs: number, how: string): Trust {
  return without(trust, ({ atMs }) => atMs <= startedAtMs, how);
}

/** The failures of the task are its own: its next run failed on another agent, too. */
export function afterRefutation(trust: Trust, task: string): Trust {
  const isOwn = (failure: HostFailure): boolean => !failure.launch && failure.task === task;
  return without(trust, isOwn, "the runs that failed there fail elsewhere, too");
}

function without(trust: Trust, isGone: (failure: HostFailure) => boolean, mended: string): Trust {
  const failures = trust.failures.filter((failure) => !isGone(failure));
  if (failures.length === trust.failures.length) return trust;
  if (failures.length > 0) return { ...trust, failures };
  return trust.times === 0 ? fullTrust : { ...trust, failures, isDue: false, mended };
}

export function afterDistrusted(
  trust: Trust,
  { forMs }: EventData<"AgentDistrusted">,
  timeMs: number,
): Trust {
  return { ...trust, times: trust.times + 1, untilMs: timeMs + forMs, isDue: false };
}

/** The event to record; null for none. */
export function trustDecision({
  failures,
  reason,
  times,
  isDue,
  mended,
}: Trust):
  | { readonly kind: "trust"; readonly reason: string }
  | { readonly kind: "distrust"; readonly distrusted: EventData<"AgentDistrusted"> }
  | null {
  if (mended !== null) return { kind: "trust", reason: mended };
  if (!isDue) return null;
  const experiments = [...new Set(failures.map(({ experiment }) => experiment))];
  const distrusted = {
    failures: failures.length,
    experiments: experiments.slice(0, limits.distrustNamedMax),
    reason,
    forMs: Math.min(limits.distrustFirstMs * 2 ** times, limits.distrustLastMs),
  };
  return { kind: "distrust", distrusted };
}
