/**
 * The list of what is wanted of an agent: each allocation that is placed there, to run or to be killed; each that it
 * names and should not run, to be killed; and what it may forget. Launches go along until the agent has named the
 * allocation, as many as fit. An allocation that had started is never launched again.
 */
import type { Plain } from "@trainyard/contracts";
import {
  AllocationReportState,
  type Launch,
  type Wanted,
  WantedState,
} from "@trainyard/contracts/agent";
import { limits } from "../../limits.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Allocation } from "../cluster/state.ts";
import type { Observed } from "./observed.ts";
import { isDoomed, ranksOf } from "./ranks.ts";

export type WantedPlan = {
  readonly agent: string;
  readonly run: readonly string[];
  readonly kill: readonly string[];
  readonly forget: readonly string[];
  /** Those of `run` that must come with their launch, in the order in which they go along while there is room. */
  readonly launch: readonly string[];
};

export function planWanted(cluster: Cluster, observed: Observed, agent: string): WantedPlan {
  const run: string[] = [];
  const kill: string[] = [];
  const launch: string[] = [];
  for (const id of cluster.placedOn(agent)) {
    const allocation = cluster.allocations.get(id);
    if (allocation === undefined) continue;
    if (isDoomed(allocation, ranksOf(allocation, observed))) kill.push(id);
    else {
      run.push(id);
      if (needsLaunch(allocation, observed, agent)) launch.push(id);
    }
  }
  const ghosts = cluster.agents.get(agent)?.ghosts ?? {};
  kill.push(...Object.keys(ghosts));
  const forget: string[] = [];
  for (const [id, { state }] of observed.agent(agent)?.allocations ?? []) {
    if (cluster.placedOn(agent).has(id) || ghosts[id] !== undefined) continue;
    if (state === AllocationReportState.ENDED) forget.push(id);
    else kill.push(id);
  }
  return { agent, run, kill, forget: forget.slice(0, limits.forgetPerWantedMax), launch };
}

function needsLaunch(allocation: Allocation, observed: Observed, agent: string): boolean {
  return !allocation.started && !observed.hasNamed(agent, allocation.id);
}

/** The message, and notes for the reports to come. The version rises when what is asked has changed. */
export function wantedOf(
  plan: WantedPlan,
  launches: ReadonlyMap<string, { readonly launch: Plain<Launch>; readonly bytes: number }>,
  observed: Observed,
  probe: number,
): Plain<Wanted> {
  const asked = observed.asked(plan.agent);
  const carried = carriedLaunches(plan, launches);
  const awaited = plan.launch.filter((id) => !carried.has(id));
  const content = JSON.stringify([plan.run, plan.kill, plan.forget, awaited]);
  if (content !== asked.content) {
    asked.content = content;
    asked.version += 1;
  }
  for (const id of [...plan.run, ...plan.kill]) {
    if (asked.knownSince.has(id) || awaited.includes(id)) continue;
    asked.knownSince.set(id, asked.version);
  }
  return {
    epoch: observed.epoch,
    version: asked.version,
    allocations: [
      ...plan.run.map((allocation) => {
        const launch = carried.get(allocation);
        const state = WantedState.RUN;
        return launch === undefined ? { allocation, state } : { allocation, state, launch };
      }),
      ...plan.kill.map((allocation) => ({ allocation, state: WantedState.KILL })),
    ],
    forget: plan.forget,
    probe,
  };
}

function carriedLaunches(
  plan: WantedPlan,
  launches: ReadonlyMap<string, { readonly launch: Plain<Launch>; readonly bytes: number }>,
): ReadonlyMap<string, Plain<Launch>> {
  const carried = new Map<string, Plain<Launch>>();
  let bytes = 0;
  for (const id of plan.launch) {
    const built = launches.get(id);
    if (built === undefined) continue;
    bytes += built.bytes;
    // One always fits: a single launch is smaller than a message may be.
    if (carried.size > 0 && bytes > limits.launchBytesPerWantedMax) break;
    carried.set(id, built.launch);
  }
  return carried;
}
