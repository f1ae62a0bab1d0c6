/**
 * The failures within the last minute, of all pools, of experiments of which a run had done well before: when several
 * of these fail on several agents at once, the cause is something that they share, such as a file server. Experiments
 * of which no run has done well may fail by themselves.
 */
import { limits } from "../../limits.ts";

/** The last failure of an experiment on an agent. */
export type RecentFailure = {
  readonly experiment: string;
  readonly agent: string;
  readonly atMs: number;
};

/** Older failures are dropped, also if no agent is named. */
export function withFailure(
  recent: readonly RecentFailure[],
  experiment: string,
  agents: readonly string[],
  atMs: number,
): readonly RecentFailure[] {
  const isAgain = (one: RecentFailure): boolean =>
    one.experiment === experiment && agents.includes(one.agent);
  const kept = recent.filter((one) => one.atMs > atMs - limits.platformWindowMs && !isAgain(one));
  const added = agents.map((agent) => ({ experiment, agent, atMs }));
  return [...kept, ...added].slice(-limits.recentFailuresMax);
}

/** Whether the last failure is one of several experiments on several agents. */
export function isOfPlatform(recent: readonly RecentFailure[]): boolean {
  const experiments = new Set(recent.map(({ experiment }) => experiment));
  const agents = new Set(recent.map(({ agent }) => agent));
  return experiments.size >= limits.platformExperiments && agents.size > 1;
}

/** Whether the agent has more than half of the failures, so that it is judged in any case. */
export function areMostlyOf(recent: readonly RecentFailure[], agent: string): boolean {
  return 2 * recent.filter((one) => one.agent === agent).length > recent.length;
}
