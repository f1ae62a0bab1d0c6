/**
 * The share of a pool's slot time that runs use, by policy, on one recorded workload: the same seed gives the same
 * runs, which arrive over time and together need slightly more than the pool has. Time is simulated. A preempted run
 * writes a checkpoint for a minute, in which its slots do no useful work, and continues later from the checkpoint.
 */
import {
  type Demand,
  defaultSettings,
  place,
  Pool,
  type PoolSettings,
  type Share,
} from "@trainyard/scheduling";
import { type BenchContext, type BenchResult, rateResult } from "../support/bench.ts";
import { randomOf, slotsPerAgent } from "./workload.ts";

const agentCount = 16;
const poolSlots = agentCount * slotsPerAgent;
const checkpointMs = 60_000;
const minuteMs = 60_000;

const variants: Readonly<Record<string, Partial<PoolSettings>>> = {
  priority: {},
  priority_backfill_any: { backfill: "any" },
  priority_no_backfill: { backfill: "none" },
  priority_preemption: { preemption: true },
  priority_spread: { fit: "spread" },
  fair_share: { policy: "fair_share" },
  fair_share_preemption: { policy: "fair_share", preemption: true },
  round_robin: { policy: "round_robin" },
  determined_priority: { compat: "determined", preemption: true },
  determined_fair_share: { compat: "determined", policy: "fair_share", preemption: true },
};

export function utilisations({ size, say }: BenchContext): readonly BenchResult[] {
  const hours = { tiny: 1, short: 24, full: 72 }[size];
  const tasks = [...recorded(hours * 60 * minuteMs)];
  say(`utilisation of ${poolSlots} slots by ${tasks.length} runs`);
  return Object.entries(variants).map(([name, settings]) => {
    const { used, gangWaitMs } = new Simulation(settings, tasks).run(hours * 60 * minuteMs);
    const bar = { id: `utilisation_${name}`, unit: "of slot time", floor: null, goal: null };
    const wait = `${(gangWaitMs / minuteMs).toFixed(1)} min`;
    return rateResult(bar, used, null, `runs of 8 slots and more wait for ${wait} on average`);
  });
}

type Task = { readonly demand: Demand; readonly atMs: number; readonly workMs: number };

/** The kinds of jobs: sweeps of short small runs, trainings on half and whole agents, and gangs of several agents. */
const kinds = [
  { share: 0.6, slots: 1, minutes: 20, jobs: 20 },
  { share: 0.2, slots: 2, minutes: 60, jobs: 10 },
  { share: 0.1, slots: 4, minutes: 90, jobs: 10 },
  { share: 0.07, slots: 8, minutes: 120, jobs: 7 },
  { share: 0.03, slots: 24, minutes: 120, jobs: 3 },
];

function* recorded(forMs: number): Generator<Task> {
  const random = randomOf(2_024);
  const meanWork = kinds.reduce(
    (sum, { share, slots, minutes }) => sum + share * slots * minutes,
    0,
  );
  // The arrivals need five per cent more work than the pool can do.
  const everyMs = (meanWork * minuteMs) / poolSlots / 1.05;
  for (let [n, atMs] = [0, 0]; atMs < forMs; n += 1) {
    const kind = random();
    let [at, below] = [0, 0];
    while (at < kinds.length - 1 && (below += kinds[at]?.share ?? 0) <= kind) at += 1;
    const { slots, minutes, jobs } = kinds[at] as (typeof kinds)[number];
    const job = `k${at}.${Math.floor(random() * jobs)}`;
    // The work is between half the mean and one and a half times the mean.
    const workMs = minutes * minuteMs * (0.5 + random());
    const isLimited = random() < 0.3;
    const demand = {
      id: `r${n}`,
      job,
      workspace: `w${n % 4}`,
      preemptible: random() < 0.8,
      weight: 1,
      maxSlots: null,
      timeLimitMs: isLimited ? 2 * workMs : null,
      preemptionTimeoutMs: checkpointMs,
      slots,
      priority: 40 + Math.floor(random() * 4),
      singleAgent: slots <= slotsPerAgent,
      arrival: n,
      queuedAtMs: atMs,
    };
    yield { demand, atMs, workMs };
    atMs += -Math.log(1 - random()) * everyMs;
  }
}

type Running = {
  readonly demand: Demand;
  readonly shares: readonly Share[];
  readonly sinceMs: number;
  endsAtMs: number;
  /** The work that remains after the run was preempted. */
  leftMs: number;
};

class Simulation {
  readonly #pool: Pool;
  readonly #tasks: readonly Task[];
  readonly #running = new Map<string, Running>();
  readonly #leftMs = new Map<string, number>();
  #nowMs = 0;
  #usedMs = 0;
  #turns = 0;
  readonly #gangWaitsMs: number[] = [];

  constructor(settings: Partial<PoolSettings>, tasks: readonly Task[]) {
    this.#pool = new Pool({ ...defaultSettings, ...settings });
    this.#tasks = tasks;
    const slots = Array.from({ length: slotsPerAgent }, (_, n) => ({
      id: String(n),
      device: "cuda",
      memoryBytes: 80e9,
    }));
    for (let n = 0; n < agentCount; n += 1) {
      this.#pool.agents.join(`a${n}`, { slots, labels: {} }, true);
    }
  }

  run(forMs: number): { readonly used: number; readonly gangWaitMs: number } {
    let next = 0;
    for (;;) {
      const arrivesAtMs = this.#tasks[next]?.atMs ?? Number.POSITIVE_INFINITY;
      this.#nowMs = Math.min(arrivesAtMs, this.#nextEndMs());
      if (this.#nowMs > forMs) break;
      for (let task = this.#tasks[next]; task?.atMs === this.#nowMs; task = this.#tasks[next]) {
        this.#leftMs.set(task.demand.id, task.workMs);
        this.#pool.queue.add(task.demand);
        next += 1;
      }
      for (const run of [...this.#running.values()]) {
        if (run.endsAtMs <= this.#nowMs) this.#end(run);
      }
      this.#place();
    }
    this.#nowMs = forMs;
    for (const run of this.#running.values()) this.#count(run);
    const waits = this.#gangWaitsMs;
    const gangWaitMs = waits.reduce((sum, ms) => sum + ms, 0) / Math.max(1, waits.length);
    return { used: this.#usedMs / (forMs * poolSlots), gangWaitMs };
  }

  #nextEndMs(): number {
    let soonestMs = Number.POSITIVE_INFINITY;
    for (const { endsAtMs } of this.#running.values()) soonestMs = Math.min(soonestMs, endsAtMs);
    return soonestMs;
  }

  #place(): void {
    const { grants, stops } = place(this.#pool, { nowMs: this.#nowMs });
    for (const { id, shares } of grants) this.#start(id, shares);
    for (const { id } of stops) {
      const run = this.#running.get(id);
      if (run === undefined) continue;
      this.#pool.stopping(id);
      run.leftMs = Math.max(0, run.endsAtMs - this.#nowMs);
      run.endsAtMs = this.#nowMs + checkpointMs;
    }
  }

  #start(id: string, shares: readonly Share[]): void {
    const demand = this.#pool.queue.find(id)?.demand;
    if (demand === undefined) throw new Error(`${id} does not wait`);
    this.#pool.queue.remove(id);
    for (const { agent, slots } of shares) this.#pool.agents.hold(agent, id, slots);
    this.#turns += 1;
    const start = { turn: this.#turns, atMs: this.#nowMs, startedAtMs: this.#nowMs };
    this.#pool.start(demand, start);
    if (demand.slots >= slotsPerAgent) {
      this.#gangWaitsMs.push(this.#nowMs - (demand.queuedAtMs ?? 0));
    }
    const endsAtMs = this.#nowMs + (this.#leftMs.get(id) ?? 0);
    this.#running.set(id, { demand, shares, sinceMs: this.#nowMs, endsAtMs, leftMs: 0 });
  }

  #end(run: Running): void {
    const { demand, shares, leftMs } = run;
    this.#count(run);
    this.#running.delete(demand.id);
    for (const { agent } of shares) this.#pool.agents.release(agent, demand.id);
    this.#pool.end(demand.id);
    if (leftMs === 0) return;
    this.#leftMs.set(demand.id, leftMs);
    this.#pool.queue.add({ ...demand, queuedAtMs: this.#nowMs });
  }

  /** Counts a run's useful work so far, which ends when the run is preempted. */
  #count({ demand, sinceMs, endsAtMs, leftMs }: Running): void {
    const untilMs = leftMs > 0 ? endsAtMs - checkpointMs : Math.min(endsAtMs, this.#nowMs);
    this.#usedMs += demand.slots * (untilMs - sinceMs);
  }
}
