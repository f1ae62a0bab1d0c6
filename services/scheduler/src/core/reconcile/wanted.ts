/**
 * The list of an agent's wanted runs: each allocation placed there, to run, to be asked to stop or to be killed; each
 * other one that the agent names, to be killed; and those that it may forget. Launches are included until the agent has
 * named the allocation, as many as fit: until then, a stop waits. An allocation that had started is never launched
 * again.
 */
import type { Plain } from "@trainyard/contracts";
import {
  AllocationReportState,
  type Launch,
  type Spoken,
  type Wanted,
  type WantedAllocation,
  WantedState,
} from "@trainyard/contracts/agent";
import { limits } from "../../limits.ts";
import { isSameHolder, refusalOf } from "../agent/holder.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Allocation } from "../cluster/state.ts";
import type { Observed, ReportedAllocation } from "./observed.ts";
import { isDoomed, isOfEarlierHolder, isOver, type Rank, ranksOf, wasTerminated } from "./ranks.ts";

/** An agent's list with its runs by their keys; `ReportedRuns` names them as the agent does. */
export type KeyedWanted = Omit<Plain<Wanted>, "allocations" | "forget" | keyof Spoken> & {
  readonly allocations: readonly Omit<Plain<WantedAllocation>, "requestId">[];
  readonly forget: readonly string[];
};

export type WantedPlan = {
  readonly agent: string;
  readonly run: readonly string[];
  readonly stop: readonly string[];
  readonly kill: readonly string[];
  readonly forget: readonly string[];
  /** The allocations of `run` whose launch must be sent, in the order in which launches are added while they fit. */
  readonly launch: readonly string[];
};

export function planWanted(cluster: Cluster, observed: Observed, agent: string): WantedPlan {
  const run: string[] = [];
  const stop: string[] = [];
  const kill: string[] = [];
  const launch: string[] = [];
  for (const id of cluster.placedOn(agent)) {
    const allocation = cluster.allocations.get(id);
    if (allocation === undefined) continue;
    const ranks = ranksOf(cluster, allocation, observed);
    if (isDoomed(allocation, ranks)) kill.push(id);
    else if (needsLaunch(cluster, allocation, observed, agent)) {
      run.push(id);
      launch.push(id);
    } else if (allocation.stop !== null && mayStop(ranks, agent)) stop.push(id);
    else run.push(id);
  }
  const ghosts = cluster.agents.get(agent)?.ghosts ?? {};
  kill.push(...Object.keys(ghosts));
  const forget: string[] = [];
  for (const [id, { state }] of observed.agent(agent)?.allocations ?? []) {
    if (cluster.placedOn(agent).has(id) || ghosts[id] !== undefined) continue;
    if (state === AllocationReportState.ENDED) forget.push(id);
    else kill.push(id);
  }
  return { agent, run, stop, kill, forget: forget.slice(0, limits.forgetPerWantedMax), launch };
}

/** Workers without the SDK would end beside a chief with it that still trains: they are asked after the chief. */
function mayStop(ranks: readonly Rank[], agent: string): boolean {
  const chief = ranks.find(({ placement }) => placement.nodeRank === 0);
  if (chief === undefined || chief.placement.agent === agent) return true;
  return isOver(chief) || wasTerminated(chief);
}

function needsLaunch(
  cluster: Cluster,
  allocation: Allocation,
  observed: Observed,
  agent: string,
): boolean {
  if (isOfEarlierHolder(cluster, allocation, agent)) return false;
  return !allocation.started && !observed.hasNamed(agent, allocation.id);
}

/**
 * Returns the incarnation to which an agent's list is addressed: that of the name's holder. Undefined if none has
 * reported in this term, or if its name is not recorded yet: then no list is sent.
 */
export function addresseeOf(cluster: Cluster, observed: Observed, id: string): string | undefined {
  const agent = cluster.agents.get(id);
  const report = observed.agent(id)?.report;
  if (agent === undefined || report === undefined) return undefined;
  return isSameHolder(agent.joined, report) ? report.incarnation : undefined;
}

/** The answer to agents that ask for another agent's name: the reason, and the request to end their runs. */
export function refusalsOf(
  cluster: Cluster,
  observed: Observed,
  id: string,
): readonly KeyedWanted[] {
  const address = cluster.agents.get(id)?.joined.address ?? "";
  return observed.refused(id).map(({ report, standing }) => {
    const [ended, alive] = partition(report.allocations);
    return {
      epoch: observed.epoch,
      version: 0,
      allocations: alive.map((allocation) => ({ allocation, state: WantedState.KILL })),
      forget: ended.slice(0, limits.forgetPerWantedMax),
      probe: 0,
      incarnation: report.incarnation,
      nameTaken: refusalOf(id, standing, address),
    };
  });
}

function partition(reports: readonly ReportedAllocation[]): readonly [string[], string[]] {
  const ids = (ended: boolean): string[] =>
    reports
      .filter(({ state }) => (state === AllocationReportState.ENDED) === ended)
      .map(({ allocation }) => allocation);
  return [ids(true), ids(false)];
}

/** Returns the message, and notes for checking later reports. The version rises when the requests have changed. */
export function wantedOf(
  plan: WantedPlan,
  launches: ReadonlyMap<string, { readonly launch: Plain<Launch>; readonly bytes: number }>,
  observed: Observed,
  probe: number,
  incarnation: string,
): KeyedWanted {
  const asked = observed.asked(plan.agent);
  const carried = carriedLaunches(plan, launches);
  const awaited = plan.launch.filter((id) => !carried.has(id));
  const content = JSON.stringify([plan.run, plan.stop, plan.kill, plan.forget, awaited]);
  if (content !== asked.content) {
    asked.content = content;
    asked.version += 1;
  }
  for (const id of [...plan.run, ...plan.stop, ...plan.kill]) {
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
      ...plan.stop.map((allocation) => ({ allocation, state: WantedState.STOP })),
      ...plan.kill.map((allocation) => ({ allocation, state: WantedState.KILL })),
    ],
    forget: plan.forget,
    probe,
    incarnation,
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
    // One launch always fits, since a single launch is smaller than the largest message.
    if (carried.size > 0 && bytes > limits.launchBytesPerWantedMax) break;
    carried.set(id, built.launch);
  }
  return carried;
}
