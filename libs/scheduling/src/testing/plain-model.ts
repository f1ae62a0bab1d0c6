/** A plain reference model of the scheduling rules for property tests: slow and without indexes. */
import type { Demand } from "../demand.ts";
import type { ToyCluster } from "./toy-cluster.ts";

export type Slots = ReadonlyMap<string, number>;

/** Returns the free slots of each agent, as if the `gone` runs had ended. Throws if a slot has two holders. */
export function freeOf(
  toy: ToyCluster,
  sizes: Readonly<Record<string, number>>,
  gone: ReadonlySet<string> = new Set(),
): Slots {
  const holders = new Map<string, string>();
  const free = new Map(Object.entries(sizes));
  for (const [id, shares] of toy.running) {
    if (gone.has(id)) continue;
    for (const { agent, slots } of shares) {
      for (const slot of slots) {
        const key = `${agent}/${slot}`;
        const other = holders.get(key);
        if (other !== undefined) throw new Error(`${key} of ${id} is held by ${other}`);
        holders.set(key, id);
      }
      free.set(agent, (free.get(agent) ?? 0) - slots.length);
    }
  }
  return free;
}

export function fitsIn(free: Slots, { slots, singleAgent }: Demand): boolean {
  const counts = [...free.values()];
  if (singleAgent) return Math.max(0, ...counts) >= slots;
  return counts.reduce((sum, count) => sum + count, 0) >= slots;
}

/** Returns every subset; only for a handful of elements. */
export function subsetsOf<Thing>(things: readonly Thing[]): readonly (readonly Thing[])[] {
  return Array.from({ length: 2 ** things.length }, (_, mask) =>
    things.filter((_thing, at) => (mask >> at) % 2 === 1),
  );
}

/** Returns each job's ideal share as a fraction: it bisects for the share per weight at which all slots are used. */
export function idealShares(
  jobs: readonly { readonly weight: number; readonly wants: number }[],
  capacity: number,
): readonly number[] {
  let [low, high] = [0, capacity + 1];
  const at = (level: number): readonly number[] =>
    jobs.map(({ weight, wants }) => Math.min(wants, level * weight));
  for (let step = 0; step < 100; step += 1) {
    const level = (low + high) / 2;
    if (at(level).reduce((sum, share) => sum + share, 0) > capacity) high = level;
    else low = level;
  }
  return at(low);
}
