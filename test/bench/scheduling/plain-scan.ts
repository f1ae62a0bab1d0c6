/** The same order and limits without an index: each placement visits all waiting runs, then all agents. */
import type { Demand, PoolSettings } from "@trainyard/scheduling";
import { allRules, next, randomOf, runsFor, slotsPerAgent } from "./workload.ts";

type Running = { readonly demand: Demand; readonly agent: number };

export class PlainScan {
  readonly #free: number[];
  readonly #waiting: Demand[] = [];
  readonly #running: Running[] = [];
  readonly #places = new Map<string, number>();
  readonly #byJob = new Map<string, number>();
  readonly #byWorkspace = new Map<string, number>();
  readonly #random = randomOf(7);
  readonly #settings: PoolSettings;
  #queued = 0;
  #nowMs = 0;

  constructor(agents: number, waiting: number) {
    this.#free = Array.from({ length: agents }, () => slotsPerAgent);
    this.#settings = allRules(agents);
    for (const demand of runsFor(agents, waiting, this.#random)) this.#queue(demand);
    this.#fill();
  }

  /** Fills the agents without a scan per run, since the initial placement is not measured. */
  #fill(): void {
    for (let agent = 0; agent < this.#free.length; agent += 1) {
      for (let at = this.#waiting.length - 1; (this.#free[agent] ?? 0) > 0 && at >= 0; at -= 1) {
        const demand = this.#waiting[at] as Demand;
        if (demand.slots > (this.#free[agent] ?? 0) || this.#isLimited(demand)) continue;
        this.#start(at, agent);
      }
    }
  }

  endOne(): void {
    const at = Math.floor(this.#random() * this.#running.length);
    const run = this.#running[at];
    if (run === undefined) return;
    this.#running[at] = this.#running[this.#running.length - 1] as Running;
    this.#running.pop();
    this.#free[run.agent] = (this.#free[run.agent] ?? 0) + run.demand.slots;
    this.#count(run.demand, -1);
    this.#queue(next(run.demand, this.#queued, this.#nowMs));
  }

  pass(): number {
    this.#nowMs += 10;
    const full = new Set<number>();
    let placed = 0;
    for (;;) {
      const at = this.#first(full);
      if (at < 0) return placed;
      const { slots } = this.#waiting[at] as Demand;
      const agent = this.#tightest(slots);
      if (agent < 0) full.add(slots);
      else {
        this.#start(at, agent);
        placed += 1;
      }
    }
  }

  /** Returns the waiting run of the best rank that may start. */
  #first(full: ReadonlySet<number>): number {
    let best = -1;
    let bestRank = Number.POSITIVE_INFINITY;
    for (const [at, demand] of this.#waiting.entries()) {
      if (full.has(demand.slots)) continue;
      const aged = Math.floor((this.#nowMs - (demand.queuedAtMs ?? 0)) / this.#settings.ageingMs);
      const rank = (demand.priority - aged) * 1e9 + (this.#places.get(demand.job) ?? 0);
      if (rank >= bestRank || this.#isLimited(demand)) continue;
      best = at;
      bestRank = rank;
    }
    return best;
  }

  #isLimited({ job, workspace, slots, maxSlots, preemptible }: Demand): boolean {
    if (maxSlots !== null && (this.#byJob.get(job) ?? 0) + slots > maxSlots) return true;
    const quota = this.#settings.quotas.find((one) => one.workspace === workspace);
    if (quota === undefined || (quota.borrow && preemptible)) return false;
    return (this.#byWorkspace.get(workspace) ?? 0) + slots > quota.slots;
  }

  #tightest(slots: number): number {
    let best = -1;
    let bestFree = Number.POSITIVE_INFINITY;
    for (let agent = 0; agent < this.#free.length; agent += 1) {
      const free = this.#free[agent] ?? 0;
      if (free >= slots && free < bestFree) {
        best = agent;
        bestFree = free;
      }
    }
    return best;
  }

  #start(at: number, agent: number): void {
    const demand = this.#waiting[at] as Demand;
    this.#waiting[at] = this.#waiting[this.#waiting.length - 1] as Demand;
    this.#waiting.pop();
    this.#free[agent] = (this.#free[agent] ?? 0) - demand.slots;
    this.#running.push({ demand, agent });
    this.#count(demand, 1);
  }

  #count({ job, workspace, slots }: Demand, sign: number): void {
    this.#byJob.set(job, (this.#byJob.get(job) ?? 0) + sign * slots);
    this.#byWorkspace.set(workspace, (this.#byWorkspace.get(workspace) ?? 0) + sign * slots);
  }

  #queue(demand: Demand): void {
    this.#waiting.push(demand);
    if (!this.#places.has(demand.job)) this.#places.set(demand.job, demand.arrival);
    this.#queued += 1;
  }
}
