/** Properties of the scheduling rules over random clusters and workloads, compared with a plain model. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Demand } from "./demand.ts";
import { schedulingLimits } from "./limits.ts";
import { policyNames, type PoolSettings } from "./settings.ts";
import { fitsIn, freeOf, idealShares, subsetsOf } from "./testing/plain-model.ts";
import { ToyCluster } from "./testing/toy-cluster.ts";

const agents = fc
  .array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 })
  .map((sizes) => Object.fromEntries(sizes.map((size, n) => [`a${n}`, size])));

const quotas = [
  { workspace: "strict", slots: 2, borrow: false },
  { workspace: "lent", slots: 2, borrow: true },
];

const settings: fc.Arbitrary<Partial<PoolSettings>> = fc.record({
  policy: fc.constantFrom(...policyNames),
  preemption: fc.boolean(),
  backfill: fc.constantFrom("reserved" as const, "any" as const, "none" as const),
  fit: fc.constantFrom("pack" as const, "spread" as const),
  ageingMs: fc.constantFrom(0, 3),
  quotas: fc.constantFrom([], quotas),
});

const asked = fc.record({
  slots: fc.nat({ max: 6 }),
  priority: fc.integer({ min: 1, max: 4 }),
  singleAgent: fc.boolean(),
  preemptible: fc.boolean(),
  job: fc.constantFrom("x", "y", "z"),
  workspace: fc.constantFrom("", "strict", "lent"),
  weight: fc.integer({ min: 0, max: 3 }),
  maxSlots: fc.constantFrom(null, null, 2, 5),
  timeLimitMs: fc.constantFrom(null, null, 2, 9),
});

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("queue" as const), asked }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("end" as const), nth: fc.nat() }) },
  { weight: 1, arbitrary: fc.constant({ kind: "tick" as const }) },
  { weight: 3, arbitrary: fc.constant({ kind: "pass" as const }) },
);

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

class Scenario {
  readonly toy: ToyCluster;
  readonly sizes: Readonly<Record<string, number>>;
  readonly demands = new Map<string, Demand>();
  readonly borrowed = new Map<string, number>();

  constructor(chosen: Partial<PoolSettings>, sizes: Readonly<Record<string, number>>) {
    this.toy = new ToyCluster(chosen, sizes);
    this.sizes = sizes;
  }

  take(one: Step): void {
    const { toy } = this;
    if (one.kind === "queue") {
      const id = `r${this.demands.size}`;
      this.demands.set(id, toy.queue(id, one.asked.slots, one.asked));
    } else if (one.kind === "end") {
      const id = [...toy.running.keys()][one.nth % (toy.running.size || 1)];
      if (id !== undefined) toy.end(id);
    } else if (one.kind === "tick") toy.nowMs += 1;
    else this.pass();
  }

  waiting(): readonly Demand[] {
    return [...this.demands.values()].filter(({ id }) => this.toy.pool.queue.has(id));
  }

  runs(): readonly Demand[] {
    return [...this.toy.running.keys()].map((id) => this.demands.get(id) as Demand);
  }

  pass(): void {
    const { toy } = this;
    const before = new Set(toy.stopping);
    const pass = toy.pass();
    for (const { id, shares, borrowed } of pass.grants) {
      const { slots, singleAgent } = this.demands.get(id) as Demand;
      expect(shares.flatMap((share) => share.slots)).toHaveLength(slots);
      if (singleAgent) expect(shares).toHaveLength(1);
      this.borrowed.set(id, borrowed);
    }
    for (const { id } of pass.stops) {
      expect(this.demands.get(id)?.preemptible).toBe(true);
      expect(before.has(id), "asked twice").toBe(false);
    }
    expect(new Set(pass.stops.map(({ id }) => id)).size).toBe(pass.stops.length);
    freeOf(toy, this.sizes);
    this.checkQuotas();
    if (toy.stopping.size === 0) this.checkNothingIdles(pass.reservation?.agents ?? []);
  }

  checkQuotas(): void {
    for (const { workspace, slots, borrow } of this.toy.pool.settings.quotas) {
      const runs = this.runs().filter((run) => run.workspace === workspace);
      const held = runs.reduce((sum, run) => sum + run.slots, 0);
      const onLoan = runs.reduce((sum, { id }) => sum + (this.borrowed.get(id) ?? 0), 0);
      expect(held).toBeLessThanOrEqual(slots + (borrow ? onLoan : 0));
    }
  }

  /** Checks that each waiting run exceeds a limit, or does not fit beside the reservation. */
  checkNothingIdles(reserved: readonly string[]): void {
    const { settings: chosen } = this.toy.pool;
    if (chosen.backfill === "none" && reserved.length > 0) return;
    const free = new Map(freeOf(this.toy, this.sizes));
    for (const agent of reserved) free.delete(agent);
    const heldBy = (of: (run: Demand) => boolean): number =>
      this.runs()
        .filter(of)
        .reduce((sum, { slots }) => sum + slots, 0);
    for (const demand of this.waiting()) {
      if (demand.slots === 0) continue;
      const { slots, job, workspace, maxSlots, preemptible } = demand;
      if (maxSlots !== null && heldBy((run) => run.job === job) + slots > maxSlots) continue;
      const quota = chosen.quotas.find((one) => one.workspace === workspace);
      const held = heldBy((run) => run.workspace === workspace);
      const mayBorrow = quota?.borrow === true && preemptible;
      if (quota !== undefined && held + slots > quota.slots && !mayBorrow) continue;
      expect(fitsIn(free, demand), `${demand.id} waits and fits`).toBe(false);
    }
  }
}

const plainRun = {
  slots: 3,
  priority: 2,
  singleAgent: false,
  preemptible: true,
  job: "x" as const,
  workspace: "" as const,
  weight: 0,
  timeLimitMs: null,
};

/** Two runs of a job: the first exceeds its own `maxSlots` and must not hold up the second. */
const runsOfOneJob: Step[] = [
  { kind: "queue", asked: { ...plainRun, maxSlots: 2 } },
  { kind: "queue", asked: { ...plainRun, maxSlots: null } },
];

test("no slot is granted twice, no gang is split, quotas are exceeded only by loans, and no slot idles needlessly", () => {
  fc.assert(
    fc.property(settings, agents, fc.array(step, { maxLength: 50 }), (chosen, sizes, steps) => {
      const scenario = new Scenario(chosen, sizes);
      for (const one of steps) scenario.take(one);
      scenario.pass();
    }),
    { numRuns: 150, examples: [[{ policy: "fair_share" }, { a0: 3 }, runsOfOneJob]] },
  );
});

test("every run that fits the pool is placed in the end, under every policy", () => {
  fc.assert(
    fc.property(settings, agents, fc.array(asked, { maxLength: 20 }), (chosen, sizes, many) => {
      const scenario = new Scenario({ ...chosen, quotas: [] }, sizes);
      const largest = Math.max(...Object.values(sizes));
      for (const one of many) {
        scenario.take({
          kind: "queue",
          asked: { ...one, maxSlots: null, slots: Math.min(one.slots, largest) },
        });
      }
      for (let round = 0; round <= many.length; round += 1) {
        scenario.pass();
        scenario.toy.end(...scenario.toy.stopping);
        const [oldest] = scenario.toy.running.keys();
        if (oldest !== undefined) scenario.toy.end(oldest);
      }
      for (let round = 0; round <= many.length; round += 1) {
        scenario.pass();
        scenario.toy.end(...scenario.toy.running.keys());
      }
      expect(scenario.waiting()).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test("victims make enough room, each is needed, and none may refuse to stop", () => {
  const placed = fc.array(
    fc.record({
      slots: fc.integer({ min: 1, max: 3 }),
      priority: fc.integer({ min: 1, max: 4 }),
      preemptible: fc.boolean(),
    }),
    { maxLength: 8 },
  );
  const better = fc.record({
    slots: fc.integer({ min: 1, max: 6 }),
    priority: fc.integer({ min: 1, max: 3 }),
    singleAgent: fc.boolean(),
  });
  fc.assert(
    fc.property(agents, placed, better, (sizes, runs, wanted) => {
      const toy = new ToyCluster({ preemption: true, backfill: "any" }, sizes);
      for (const [n, { slots, ...rest }] of runs.entries()) {
        const demand = toy.queue(`r${n}`, slots, rest);
        // Only runs that fit at once are placed; the others take no part in the test.
        if (fitsIn(freeOf(toy, sizes), demand)) toy.pass();
        toy.pool.queue.remove(demand.id);
      }
      const before = freeOf(toy, sizes);
      const demand = toy.queue("better", wanted.slots, wanted);
      const { grants, stops } = toy.pass();
      if (fitsIn(before, demand)) {
        expect([grants.length, stops]).toEqual([1, []]);
        return;
      }
      const mayStop = [...toy.running.keys()].filter((id) => {
        const run = runs[Number(id.slice(1))];
        return run !== undefined && run.preemptible && run.priority > wanted.priority;
      });
      const suffices = (ids: readonly string[]): boolean =>
        fitsIn(freeOf(toy, sizes, new Set(ids)), demand);
      const victims = stops.map(({ id }) => id);
      for (const victim of victims) expect(mayStop).toContain(victim);
      expect(suffices(victims)).toBe(subsetsOf(mayStop).some(suffices));
      if (victims.length > 0) {
        for (const victim of victims) {
          expect(suffices(victims.filter((id) => id !== victim))).toBe(false);
        }
      }
    }),
    { numRuns: 300 },
  );
});

type Timed = { readonly slots: number; readonly minutes: number; readonly at: number };

const minuteMs = 60_000;
const launchMinutes = schedulingLimits.launchAllowanceMs / minuteMs;
const timeoutMinutes = 3;

/**
 * Simulates when the head starts, in minutes: the first runs last until their time limits. The others need the whole
 * launch allowance, and use their preemption timeouts when they reach their limits or are stopped.
 */
function headStartsAt(
  chosen: Partial<PoolSettings>,
  sizes: Readonly<Record<string, number>>,
  { first, head, others }: { first: readonly Timed[]; head: Demand; others: readonly Timed[] },
): number {
  const toy = new ToyCluster(chosen, sizes);
  const endsAt = new Map<string, number>();
  const lasts = new Map<string, number>();
  const queue = (id: string, { slots, minutes }: Timed, more: number): void => {
    lasts.set(id, minutes + more);
    const preemptionTimeoutMs = timeoutMinutes * minuteMs;
    toy.queue(id, slots, { timeLimitMs: minutes * minuteMs, preemptionTimeoutMs });
  };
  for (const [n, one] of first.entries()) queue(`first-${n}`, one, 0);
  toy.pass();
  for (const [n] of first.entries()) toy.pool.queue.remove(`first-${n}`);
  for (const id of toy.running.keys()) endsAt.set(id, lasts.get(id) ?? 0);
  toy.queue("head", head.slots, { singleAgent: head.singleAgent, timeLimitMs: 1 });
  for (let now = 0; now < 200; now += 1) {
    toy.nowMs = now * minuteMs;
    for (const [n, one] of others.entries()) {
      if (one.at === now) queue(`other-${n}`, one, launchMinutes + timeoutMinutes);
    }
    toy.end(...[...endsAt].filter(([, minute]) => minute <= now).map(([id]) => id));
    for (const [id, minute] of endsAt) if (minute <= now) endsAt.delete(id);
    const { grants, stops } = toy.pass();
    for (const { id } of grants) endsAt.set(id, now + (lasts.get(id) ?? 1));
    for (const { id } of stops) {
      endsAt.set(id, Math.min(endsAt.get(id) ?? Number.POSITIVE_INFINITY, now + timeoutMinutes));
    }
    if (toy.running.has("head")) return now;
  }
  return Number.POSITIVE_INFINITY;
}

test("backfill delays the head by at most the preemption timeout of the runs that make room", () => {
  const timed = (most: number) =>
    fc.record({
      slots: fc.integer({ min: 1, max: 3 }),
      minutes: fc.integer({ min: 1, max: most }),
      at: fc.nat({ max: 20 }),
    });
  fc.assert(
    fc.property(
      agents,
      fc.array(timed(40), { maxLength: 8 }),
      fc.record({ slots: fc.integer({ min: 1, max: 8 }), singleAgent: fc.boolean() }),
      fc.array(timed(12), { maxLength: 20 }),
      fc.boolean(),
      (sizes, first, wanted, others, preemption) => {
        const largest = Math.max(...Object.values(sizes));
        const total = Object.values(sizes).reduce((sum, size) => sum + size, 0);
        const slots = Math.min(wanted.slots, wanted.singleAgent ? largest : total);
        const workload = { first, head: { ...wanted, slots } as Demand, others };
        const alone = headStartsAt({ backfill: "none", preemption }, sizes, workload);
        const passed = headStartsAt({ backfill: "reserved", preemption }, sizes, workload);
        expect(passed).toBeLessThanOrEqual(alone + (preemption ? timeoutMinutes : 0));
      },
    ),
    { numRuns: 300 },
  );
});

test("runs of equal priority are preempted equally often, give or take one", () => {
  const rounds = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(agents, rounds, (sizes, many) => {
      const toy = new ToyCluster({ preemption: true }, sizes);
      const counts = new Map<string, number>();
      const queue = (trial: string): void => {
        const preemptions = counts.get(trial) ?? 0;
        counts.set(trial, preemptions);
        toy.queue(`${trial}#${preemptions}`, 1, { job: "low", priority: 60, preemptions });
      };
      const capacity = Object.values(sizes).reduce((sum, size) => sum + size, 0);
      for (let n = 0; n < capacity; n += 1) queue(`low-${n}`);
      toy.pass();
      for (const [round, wanted] of many.entries()) {
        toy.nowMs += 1;
        for (let n = 0; n < Math.min(wanted, capacity); n += 1) toy.queue(`${round}.${n}`, 1);
        for (let { stops } = toy.pass(); stops.length > 0; { stops } = toy.pass()) {
          for (const { id } of stops) {
            toy.end(id);
            const [trial = ""] = id.split("#");
            counts.set(trial, (counts.get(trial) ?? 0) + 1);
            queue(trial);
          }
        }
        toy.end(...[...toy.running.keys()].filter((id) => !id.startsWith("low")));
        toy.pass();
        const all = [...counts.values()];
        expect(Math.max(...all) - Math.min(...all)).toBeLessThanOrEqual(1);
      }
    }),
  );
});

test("fair shares are within one slot of the ideal, from the start and after more jobs arrived", () => {
  const job = fc.record({
    weight: fc.integer({ min: 1, max: 5 }),
    runs: fc.nat({ max: 12 }),
    maxSlots: fc.constantFrom(null, null, 3),
    late: fc.boolean(),
  });
  fc.assert(
    fc.property(agents, fc.array(job, { minLength: 1, maxLength: 6 }), (sizes, jobs) => {
      const toy = new ToyCluster({ policy: "fair_share", preemption: true }, sizes);
      const capacity = Object.values(sizes).reduce((sum, size) => sum + size, 0);
      for (const late of [false, true]) {
        for (const [n, { runs, weight, maxSlots, ...one }] of jobs.entries()) {
          for (let run = 0; run < runs && one.late === late; run += 1) {
            toy.queue(`${n}-${run}`, 1, { job: `j${n}`, weight, maxSlots });
          }
        }
        for (let round = 0; round < 4 * capacity; round += 1) {
          toy.pass();
          toy.end(...toy.stopping);
        }
        const there = jobs.map((one, n) => {
          const waits = toy.pool.queue.slotsOf(`j${n}`) + toy.pool.placed.slotsOf(`j${n}`);
          return { weight: one.weight, wants: Math.min(waits, one.maxSlots ?? waits) };
        });
        for (const [n, ideal] of idealShares(there, capacity).entries()) {
          expect(Math.abs(toy.pool.placed.slotsOf(`j${n}`) - ideal)).toBeLessThan(1.000_001);
        }
      }
    }),
    { numRuns: 300 },
  );
});
