/** A pool with all rules on that is always full: runs end, others of random kinds arrive, and a pass follows. */
import { type Demand, defaultSettings, type PoolSettings } from "@trainyard/scheduling";

export const slotsPerAgent = 8;

export const allRules: PoolSettings = {
  ...defaultSettings,
  preemption: true,
  ageingMs: 3_600_000,
  quotas: [
    { workspace: "w0", slots: 64, borrow: false },
    { workspace: "w1", slots: 64, borrow: true },
  ],
};

/** Numbers between 0 and 1, the same for the same seed (mulberry32). */
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

/** The n-th run: of 1 to 8 slots, of a hundred experiments in five workspaces, with five priorities. */
export function demandOf(n: number, random: () => number, atMs: number): Demand {
  const job = Math.floor(random() * 100);
  const slots = sizes[Math.floor(random() * sizes.length)] ?? 1;
  return {
    id: `r${n}`,
    job: `j${job}`,
    workspace: `w${job % 5}`,
    preemptible: job % 2 === 0,
    weight: 1,
    maxSlots: job % 10 === 0 ? 256 : null,
    timeLimitMs: job % 4 === 0 ? 600_000 : null,
    preemptionTimeoutMs: 1_000,
    slots,
    priority: 40 + Math.floor(random() * 5),
    singleAgent: true,
    arrival: n,
    queuedAtMs: atMs,
  };
}
