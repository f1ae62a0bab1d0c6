/**
 * A pool that is always full, with all rules enabled. The number of runs is constant: when a run ends or is preempted,
 * its experiment queues another one like it, so that the kinds of waiting runs stay the same. Quotas and `max_slots`
 * are shares of the pool. In a small and in a large pool, and with a short and a long queue, some runs therefore wait
 * because of their limits, and others because the pool is full.
 */
import { type Demand, defaultSettings, type PoolSettings } from "@trainyard/scheduling";

export const slotsPerAgent = 8;

export function allRules(agents: number): PoolSettings {
  const slots = Math.ceil(agents * slotsPerAgent * 0.15);
  return {
    ...defaultSettings,
    preemption: true,
    ageingMs: 3_600_000,
    quotas: [
      { workspace: "w0", slots, borrow: false },
      { workspace: "w1", slots, borrow: true },
    ],
  };
}

/** Returns a generator of numbers between 0 and 1, the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const sizes = [1, 1, 1, 1, 2, 2, 4, 8];

const meanSlots = sizes.reduce((sum, slots) => sum + slots, 0) / sizes.length;

/** Yields the runs that fill a pool of `agents` agents and leave `waiting` runs in the queue. */
export function* runsFor(agents: number, waiting: number, random: () => number): Generator<Demand> {
  const count = Math.ceil((agents * slotsPerAgent) / meanSlots) + waiting;
  for (let n = 0; n < count; n += 1) yield demandOf(n, agents, random);
}

/** Returns the next run of the ended run's experiment. */
export function next(ended: Demand, arrival: number, atMs: number): Demand {
  return { ...ended, id: `r${arrival}`, arrival, queuedAtMs: atMs };
}

/** Draws a demand of 1 to 8 slots, of one of a hundred experiments in five workspaces, with one of five priorities. */
function demandOf(n: number, agents: number, random: () => number): Demand {
  const job = Math.floor(random() * 100);
  const slots = sizes[Math.floor(random() * sizes.length)] ?? 1;
  return {
    id: `r${n}`,
    job: `j${job}`,
    workspace: `w${job % 5}`,
    preemptible: job % 2 === 0,
    weight: 1,
    maxSlots: job % 10 === 0 ? Math.ceil(agents * slotsPerAgent * 0.01) : null,
    timeLimitMs: job % 4 === 0 ? 600_000 : null,
    preemptionTimeoutMs: 1_000,
    slots,
    priority: 40 + Math.floor(random() * 5),
    singleAgent: true,
    arrival: n,
    queuedAtMs: 0,
  };
}
