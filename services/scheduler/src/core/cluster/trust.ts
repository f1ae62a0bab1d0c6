/**
 * The launches on an agent since the last run that started there. Launches of one experiment may fail
 * because of the experiment; those of several, one after the other, because of the agent: then it gets nothing for a
 * while, twice as long each time, until a run starts there or a person says that it is mended. All times are of events.
 */
import type { EventData } from "@trainyard/contracts";
import { limits } from "../../limits.ts";

export type Trust = {
  /** Launches that failed. */
  readonly failures: number;
  /** The first few experiments whose launches failed. */
  readonly experiments: readonly string[];
  /** The reason of the last failure. */
  readonly reason: string;
  /** How often it was recorded as distrusted. */
  readonly times: number;
  /** The time until which it gets nothing; null if it was never distrusted. */
  readonly untilMs: number | null;
  /** A failure that no record has answered yet. */
  readonly isDue: boolean;
  /** A run has started there, which is not recorded yet. */
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
  // A launch on its way when the agent was distrusted says nothing new.
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

/** The event to record of it; null for none. */
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
