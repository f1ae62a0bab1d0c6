/** Why what waits has no place yet, in the words that people see. */
import type { Demand } from "./demand.ts";
import type { Pool } from "./pool.ts";
import type { Kind } from "./queue.ts";

export type WaitReason = "no_agents" | "agents_away" | "not_enough_free" | "behind_others";

export type Wait = { readonly id: string; readonly reason: WaitReason; readonly detail: string };

/** The reasons of the first that wait, in the order of the queue. Right after a pass: what fits is placed by then. */
export function explainWaits(pool: Pool, waitsMax: number): readonly Wait[] {
  const waits: Wait[] = [];
  for (const kind of ["slotless", "slotted"] as const) explainKind(pool, kind, waitsMax, waits);
  return waits;
}

function explainKind(pool: Pool, kind: Kind, waitsMax: number, waits: Wait[]): void {
  let first = true;
  for (const priority of pool.queue.priorities(kind)) {
    const seenShapes = new Set<string>();
    const walk = pool.queue.walk(kind, priority);
    for (let next = walk.next(); next !== null; next = walk.next()) {
      if (waits.length >= waitsMax) return;
      const shape = `${next.demand.slots}/${next.demand.singleAgent}`;
      const leads = first && !seenShapes.has(shape);
      seenShapes.add(shape);
      waits.push({ id: next.demand.id, ...reasonOf(pool, next.demand, leads) });
      next.take();
    }
    first = false;
  }
}

function reasonOf(pool: Pool, demand: Demand, leads: boolean): Omit<Wait, "id"> {
  const { known, present, freeSlots, mostFree } = pool.agents;
  if (known.agents === 0) {
    return { reason: "no_agents", detail: "no agent has joined the pool yet" };
  }
  if (present.agents === 0 || (present.slots < demand.slots && known.slots >= demand.slots)) {
    const away = known.agents - present.agents;
    return {
      reason: "agents_away",
      detail: `${away} of the pool's ${known.agents} agents are away, with ${known.slots - present.slots} of its ${known.slots} slots`,
    };
  }
  if (!leads) return { reason: "behind_others", detail: "others are ahead of it in the queue" };
  if (demand.slots === 0) {
    return { reason: "not_enough_free", detail: "every agent runs as many processes as it may" };
  }
  const free = demand.singleAgent
    ? `at most ${Math.max(0, mostFree)} are free on one agent`
    : `${freeSlots} of ${present.slots} are free`;
  const needed = demand.slots === 1 ? "1 slot" : `${demand.slots} slots`;
  return { reason: "not_enough_free", detail: `it needs ${needed} and ${free}` };
}
