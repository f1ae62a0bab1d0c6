/**
 * The launches on an agent since the last run that started there. Failed launches of one experiment may be caused by
 * the experiment. Consecutive failures of several experiments are blamed on the agent: it gets no runs for a while,
 * twice as long each time, until a run starts there or a person marks it as repaired. All times are times of events.
 */
import type { EventData } from "@trainyard/contracts";
import { limits } from "../../limits.ts";

export type Trust = {
  /** The number of failed launches. */
  readonly failures: number;
  /** The first few experiments whose launches failed. */
  readonly experiments: readonly string[];
  /** The reason of the last failure. */
  readonly reason: string;
  /** The number of times that the agent was recorded as distrusted. */
  readonly times: number;
  /** The time until which the agent gets no runs; null if it was never distrusted. */
  readonly untilMs: number | null;
  /** True if a failure has to be recorded. */
  readonly isDue: boolean;
  /** True if a run has started there, which has to be recorded. */
  readonly hasStarted: boolean;
};

export const fullTrust: Trust = {
  failures: 0,
  experiments: [],
  reason: "",
  times: 0,
  untilMs: null,
  isDue: false,
  hasStarted: false,
};

export function afterFailure(
  trust: Trust,
  { experiment, reason, timeMs }: { experiment: string; reason: string; timeMs: number },
): Trust {
  const experiments = trust.experiments.includes(experiment)
    ? trust.experiments
    : [...trust.experiments, experiment].slice(0, limits.distrustNamedMax);
  // A launch under way when the agent was distrusted gives no new information.
  const isNew = trust.untilMs === null || timeMs >= trust.untilMs;
  const isDue = trust.isDue || (isNew && experiments.length >= limits.distrustExperiments);
  return { ...trust, failures: trust.failures + 1, experiments, reason, isDue, hasStarted: false };
}

export function afterStart(trust: Trust): Trust {
  return trust.times === 0 ? fullTrust : { ...trust, isDue: false, hasStarted: true };
}

export function afterDistrusted(
  trust: Trust,
  { forMs }: EventData<"AgentDistrusted">,
  timeMs: number,
): Trust {
  return { ...trust, times: trust.times + 1, untilMs: timeMs + forMs, isDue: false };
}

/** The event to record; null for none. */
export function trustDecision(
  trust: Trust,
):
  | { readonly kind: "trust"; readonly reason: string }
  | { readonly kind: "distrust"; readonly distrusted: EventData<"AgentDistrusted"> }
  | null {
  if (trust.hasStarted) return { kind: "trust", reason: "a run has started there" };
  if (!trust.isDue) return null;
  const { failures, experiments, reason, times } = trust;
  const forMs = Math.min(limits.distrustFirstMs * 2 ** times, limits.distrustLastMs);
  return { kind: "distrust", distrusted: { failures, experiments, reason, forMs } };
}
