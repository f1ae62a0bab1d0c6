/** The trust of agents after the end of a run, which may speak for or against its agents and others. */
import type { EventData } from "@trainyard/contracts";
import { AllocationEndCause, EndReason } from "@trainyard/contracts/events";
import { limits } from "../../limits.ts";
import { blockOf } from "./block.ts";
import type { Cluster } from "./cluster.ts";
import { earlier } from "./earlier.ts";
import { areMostlyOf, isOfPlatform, type RecentFailure, withFailure } from "./recent-failures.ts";
import type { Allocation } from "./state.ts";
import {
  afterFailure,
  afterRefutation,
  afterSuccess,
  afterSuccessElsewhere,
  type HostFailure,
  type Trust,
} from "./trust.ts";

export type End = Pick<
  EventData<"AllocationEnded">,
  "cause" | "exits" | "endRecord" | "launchFailure" | "message"
>;

/** The failures of the last minute, before and after the end, which happens at a time. */
export type Moment = { readonly recent: readonly RecentFailure[]; readonly timeMs: number };

export type Judged = {
  /** The agents whose trust the end changes. */
  readonly trusts: ReadonlyMap<string, Trust>;
  readonly recent: readonly RecentFailure[];
  /** The agents on which the run has done well; empty if it has not. */
  readonly didWellOn: readonly string[];
};

export function judge(cluster: Cluster, run: Allocation, end: End, moment: Moment): Judged {
  const judging = new Judging(cluster, run, moment);
  judging.end(end);
  return judging;
}

/** Whether the run failed by itself; a run that was asked to stop may fail because of it. */
export function hasFailed({ cause, exits, endRecord }: End): boolean {
  const reason = endRecord?.reason;
  if (reason === EndReason.ERROR || reason === EndReason.INVALID_HYPERPARAMETERS) return true;
  if (cause !== AllocationEndCause.EXITED || reason === EndReason.IDLE) return false;
  return reason !== EndReason.ACKNOWLEDGED_STOP && exits.some(isFailure);
}

function isFailure({ code, signal }: End["exits"][number]): boolean {
  return code !== 0 || signal !== "";
}

/** Whether the failure says something about hosts: it is neither a script's decision nor perhaps caused by a stop. */
export function mayBeHosts({ stop }: Allocation, end: End): boolean {
  const { cause, endRecord } = end;
  const isDecided = endRecord?.reason === EndReason.INVALID_HYPERPARAMETERS;
  return cause === AllocationEndCause.EXITED && stop === null && !isDecided && hasFailed(end);
}

/** The time at which a run that started after the agent's last failure has been up for long enough; null for never. */
export function provenAtMs(cluster: Cluster, agent: string): number | null {
  const failedAtMs = cluster.agents.get(agent)?.trust.failures.at(-1)?.atMs ?? 0;
  let first: number | null = null;
  for (const id of cluster.placedOn(agent)) {
    const startedAtMs = cluster.allocations.get(id)?.startedAtMs ?? null;
    if (startedAtMs === null || startedAtMs < failedAtMs) continue;
    first = earlier(first, startedAtMs + limits.hostProofMs);
  }
  return first;
}

class Judging implements Judged {
  readonly #cluster: Cluster;
  readonly #run: Allocation;
  readonly #timeMs: number;
  readonly trusts = new Map<string, Trust>();
  recent: readonly RecentFailure[];
  didWellOn: readonly string[] = [];

  constructor(cluster: Cluster, run: Allocation, { recent, timeMs }: Moment) {
    this.#cluster = cluster;
    this.#run = run;
    this.#timeMs = timeMs;
    this.recent = recent;
  }

  end(end: End): void {
    const { launchFailure } = end;
    if (launchFailure !== undefined) {
      // An unavailable service, or a part that the host lacks, does not mean that the agent is broken.
      if (launchFailure.platformAway || launchFailure.lacking === true) return;
      for (const agent of launchFailure.agents) this.#failed(agent, end, true);
      return;
    }
    const { startedAtMs, job, stop } = this.#run;
    // Nobody saw how long a lost run was up.
    const isUp = end.cause !== AllocationEndCause.AGENT_LOST && this.#isProven(this.#run);
    const failed = mayBeHosts(this.#run, end);
    if (failed) {
      const isEvidence = isUp || this.#didWellBeside(job, null);
      const on = isEvidence ? failedOn(end.exits) : [];
      this.recent = withFailure(this.recent, job, on, this.#timeMs);
    }
    const endedWell = stop === null && end.cause === AllocationEndCause.EXITED && !hasFailed(end);
    if (startedAtMs !== null && (isUp || endedWell)) this.#didWell(startedAtMs, endedWell);
    else if (failed) this.#failedSoon(end);
  }

  #isProven({ startedAtMs }: Allocation): boolean {
    return startedAtMs !== null && this.#timeMs >= startedAtMs + limits.hostProofMs;
  }

  #didWell(startedAtMs: number, endedWell: boolean): void {
    const how = endedWell ? "a run has ended well there" : upText;
    const own = new Set(this.#run.grant?.placements.map(({ agent }) => agent));
    this.didWellOn = [...own];
    for (const agent of own) this.#change(agent, (trust) => afterSuccess(trust, startedAtMs, how));
    for (const agent of this.#cluster.trusts.failing) {
      if (own.has(agent)) continue;
      const didWell = (experiment: string): boolean => experiment === this.#run.job;
      if (!this.#failuresOf(agent).some((one) => didWell(one.experiment))) continue;
      const others = { none: () => this.#isAlone(agent), didWell };
      this.#change(agent, (trust) => afterSuccessElsewhere(trust, others));
    }
  }

  #failedSoon(end: End): void {
    const { task } = this.#run;
    const culprit = culpritOf(end);
    const refuted = [...this.#cluster.trusts.failing].filter(
      (agent) => agent !== culprit && this.#failuresOf(agent).some((one) => isRunOf(one, task)),
    );
    for (const agent of refuted) this.#change(agent, (trust) => afterRefutation(trust, task));
    if (culprit === null || refuted.length > 0) return;
    if (isOfPlatform(this.recent) && !areMostlyOf(this.recent, culprit)) return;
    this.#failed(culprit, end, false);
  }

  #failuresOf(agent: string): readonly HostFailure[] {
    return this.#cluster.agents.get(agent)?.trust.failures ?? [];
  }

  #failed(agent: string, end: End, launch: boolean): void {
    const { job, task } = this.#run;
    const atMs = this.#timeMs;
    const failure = { experiment: job, task, reason: reasonOf(end), atMs, launch };
    const didWell = (experiment: string): boolean => this.#didWellBeside(experiment, agent);
    const others = { none: () => this.#isAlone(agent), didWell };
    this.#change(agent, (trust) => afterFailure(this.#settled(agent, trust), failure, others));
  }

  /** Runs that are up for long enough restore trust without an event, except of a distrusted agent. */
  #settled(agent: string, trust: Trust): Trust {
    if (trust.failures.length === 0 || trust.times > 0) return trust;
    const starts = [...this.#cluster.placedOn(agent)].flatMap((id) => {
      const run = this.#cluster.allocations.get(id);
      return run !== undefined && this.#isProven(run) ? (run.startedAtMs ?? []) : [];
    });
    return afterSuccess(trust, Math.max(0, ...starts), upText);
  }

  /** Whether a run of the experiment has done well, by now or before, on another agent than the given one. */
  #didWellBeside(job: string, beside: string | null): boolean {
    const { resources } = this.#run;
    if (this.#cluster.trusts.didWell.get(job)?.some((agent) => agent !== beside)) return true;
    for (const { demand } of this.#cluster.pool(resources.pool).placed.runsOf(job)) {
      const run = this.#cluster.allocations.get(demand.id);
      if (run === undefined || !this.#isProven(run)) continue;
      if (run.grant?.placements.some(({ agent }) => agent !== beside) === true) return true;
    }
    return false;
  }

  /** True if no other agent of the pool with slots gets runs. */
  #isAlone(id: string): boolean {
    const { agents, members, trusts } = this.#cluster;
    for (const other of members.of(agents.get(id)?.joined.pool ?? "")) {
      const agent = agents.get(other);
      if (other === id || agent?.status !== "present" || agent.joined.slots.length === 0) continue;
      const isDue = (this.trusts.get(other) ?? agent.trust).isDue;
      if (!isDue && blockOf(agent, trusts.cooling.has(other)) === null) return false;
    }
    return true;
  }

  #change(agent: string, change: (trust: Trust) => Trust): void {
    const before = this.trusts.get(agent) ?? this.#cluster.agents.get(agent)?.trust;
    if (before === undefined) return;
    const after = change(before);
    if (after !== before) this.trusts.set(agent, after);
  }
}

export const upText = "a run has been up there for a minute";

function isRunOf({ launch, task }: HostFailure, other: string): boolean {
  return !launch && task === other;
}

function failedOn(exits: End["exits"]): readonly string[] {
  return [...new Set(exits.filter(isFailure).map(({ agent }) => agent))];
}

/** The only agent on which the run failed by itself, as other nodes are then killed. Null if there are several. */
export function culpritOf({ exits }: End): string | null {
  const own = exits.length === 1 ? exits : exits.filter(({ signal }) => signal !== "SIGKILL");
  const agents = failedOn(own);
  return agents.length === 1 ? (agents[0] ?? null) : null;
}

function reasonOf({ endRecord, message, exits }: End): string {
  const said = endRecord?.message ?? "";
  if (said !== "" || message !== "") return said || message;
  const [exit] = exits.filter(isFailure);
  if (exit === undefined) return "";
  return exit.signal === "" ? `it exited with code ${exit.code}` : `it was ended by ${exit.signal}`;
}
