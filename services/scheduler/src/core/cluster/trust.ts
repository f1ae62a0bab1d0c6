/**
 * The failures on an agent since the last run that did well there. A failed run counts only if its experiment has done
 * well on another agent, before or after the failure: other scripts may fail by themselves. Counted failures of several
 * experiments, or of several trials of one, are blamed on the agent: it gets no runs for a while, twice as long each
 * time, until a run does well there or a person marks it as repaired. All times are times of events.
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
  /** True if its experiment has done well on another agent, before or after the failure. */
  readonly elsewhere: boolean;
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
  /** True if a run of the experiment has done well on another agent. */
  readonly didWell: (experiment: string) => boolean;
};

export function afterFailure(
  trust: Trust,
  { reason, ...failure }: Omit<HostFailure, "elsewhere"> & { readonly reason: string },
  others: Others,
): Trust {
  const added = [...trust.failures, { ...failure, elsewhere: false }];
  const failures = added.slice(-limits.hostFailuresMax);
  return afterSuccessElsewhere({ ...trust, failures, reason, mended: null }, others);
}

/** Runs have done well on other agents. */
export function afterSuccessElsewhere(trust: Trust, others: Others): Trust {
  const failures = trust.failures.map((one) => {
    return one.elsewhere || !others.didWell(one.experiment) ? one : { ...one, elsewhere: true };
  });
  return {
    ...trust,
    failures,
    isDue: trust.isDue || isToBlame({ ...trust, failures }, others.none()),
  };
}

function isToBlame({ failures, times, untilMs }: Trust, isAlone: boolean): boolean {
  // A run under way when the agent was distrusted gives no new information.
  const since = failures.filter(({ atMs }) => atMs >= (untilMs ?? 0));
  const counted = since.filter((one) => one.launch || (one.elsewhere && !isAlone));
  if (times > 0) return counted.length > 0;
  const experiments = new Set(counted.map(({ experiment }) => experiment));
  if (experiments.size >= limits.distrustExperiments) return true;
  const trials = new Set(counted.filter(({ elsewhere }) => elsewhere).map(({ task }) => task));
  return !isAlone && trials.size >= limits.distrustTrials;
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
  if (failures.some(({ launch, elsewhere }) => launch || elsewhere)) return { ...trust, failures };
  if (trust.times > 0) return { ...trust, failures, isDue: false, mended };
  return failures.length === 0 ? fullTrust : { ...trust, failures, isDue: false };
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
