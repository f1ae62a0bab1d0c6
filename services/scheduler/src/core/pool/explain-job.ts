/** Computes, for a request, why the runs of an experiment or task wait. */
import type { Plain } from "@trainyard/contracts";
import type { JobExplanation, RunExplanation } from "@trainyard/contracts/commands";
import type { Placement } from "@trainyard/contracts/events";
import { explainOne, type ExplainPass, explainPass } from "@trainyard/scheduling";
import { limits } from "../../limits.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Allocation } from "../cluster/state.ts";
import { jobsOf } from "./job-info.ts";

/**
 * Explains the job's first runs, waiting ones before placed ones; null if none waits or is placed. `nowMs` is on
 * the clock of events.
 */
export function explainJob(
  cluster: Cluster,
  job: string,
  nowMs: number = cluster.timeMs,
): Plain<JobExplanation> | null {
  const runs = [...cluster.allocations.values()].filter((allocation) => allocation.job === job);
  const pool = runs[0]?.resources.pool;
  if (pool === undefined) return null;
  const info = jobsOf(cluster, pool).find((one) => one.job === job);
  if (info === undefined) return null;
  const first = runs.toSorted(waitingFirst).slice(0, limits.explainedPerJobMax);
  const looks = new Map<string, ExplainPass>();
  const moment = { cluster, looks, nowMs };
  return { job: info, runs: first.map((allocation) => explainRun(moment, allocation)) };
}

/** The placement passes of pools so far: one pass of a pool serves all runs. */
type Moment = {
  readonly cluster: Cluster;
  readonly looks: Map<string, ExplainPass>;
  readonly nowMs: number;
};

function waitingFirst(a: Allocation, b: Allocation): number {
  return Number(a.grant !== null) - Number(b.grant !== null);
}

function explainRun(moment: Moment, allocation: Allocation): Plain<RunExplanation> {
  const { id, resources, grant, queuedAtMs, preemptions } = allocation;
  const { priority, weight, maxSlots } = moment.cluster.demand(allocation);
  const { maxSlots: _recorded, ...asked } = resources;
  const changed = { ...asked, priority, weight, ...(maxSlots === null ? {} : { maxSlots }) };
  const run = { run: id, resources: changed, queuedAtMs, preemptions };
  const nothing = { reason: "", detail: "", limit: "", ahead: 0, blockers: [], startsWhen: "" };
  if (grant !== null) {
    const { placements } = grant;
    const launch = allocation.started ? {} : { detail: launches };
    return { ...run, ...nothing, placements, ...launch, ...silenceOf(moment.cluster, placements) };
  }
  return { ...run, ...nothing, placements: [], ...reasonOf(moment, allocation) };
}

const launches =
  "it has its slots, and its launch has not finished; the log of the trial or task has its progress";

/** Says that an agent of a placed run does not report. */
function silenceOf(
  cluster: Cluster,
  placements: readonly Plain<Placement>[],
): Partial<Plain<RunExplanation>> {
  for (const { agent } of placements) {
    const { lostAtMs = null, awaited = null } = cluster.agents.get(agent) ?? {};
    if (lostAtMs !== null) {
      const untilText = timeText(lostAtMs + limits.awayMaxMs);
      const detail = `its agent ${agent} is lost since ${timeText(lostAtMs)}: the run continues if the agent returns with it, and ends at ${untilText}, or before when it fits elsewhere in its pool or the agent is removed`;
      return { reason: "agent_lost", detail };
    }
    if (awaited !== null) {
      const detail = `its agent ${agent} does not report (${awaited.reason}): the scheduler waits for it until ${timeText(awaited.untilMs)}, or until it is removed`;
      return { reason: "agent_silent", detail };
    }
  }
  return {};
}

function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}

function reasonOf(
  { cluster, looks, nowMs }: Moment,
  { id, resources, notBeforeMs }: Allocation,
): Partial<Plain<RunExplanation>> {
  if (!cluster.configured.has(resources.pool)) {
    const detail = `the pool ${resources.pool} does not exist: it starts when the pool is created and has an agent`;
    return { reason: "no_agents", detail };
  }
  if (cluster.delayed.has(id)) {
    const until = new Date(notBeforeMs).toISOString();
    const detail = `its last run failed, and the next one waits until ${until}`;
    return { reason: "delayed", detail };
  }
  const pool = cluster.pool(resources.pool);
  const look = looks.get(resources.pool) ?? explainPass(pool, nowMs);
  looks.set(resources.pool, look);
  const explained = explainOne(pool, id, nowMs, look);
  return explained === null ? {} : { ...explained, limit: explained.limit ?? "" };
}
