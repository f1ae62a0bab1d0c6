/** Why what waits has no place yet, in the words that people see. */
import type { Block, Capacity } from "./agents.ts";
import { type Demand, shapeOf } from "./demand.ts";
import { schedulingLimits } from "./limits.ts";
import type { Pool } from "./pool.ts";
import type { Kind } from "./queue.ts";

export type WaitReason =
  | "no_agents"
  | "agents_away"
  | "not_enough_free"
  | "behind_others"
  | Block["kind"];

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
      const shape = shapeOf(next.demand);
      const leads = first && !seenShapes.has(shape);
      seenShapes.add(shape);
      waits.push({ id: next.demand.id, ...reasonOf(pool, next.demand, leads) });
      next.take();
    }
    first = false;
  }
}

type Reason = Omit<Wait, "id">;

function reasonOf(pool: Pool, demand: Demand, leads: boolean): Reason {
  const { known, present, blocked } = pool.agents;
  if (known.agents === 0) {
    return { reason: "no_agents", detail: "no agent has joined the pool yet" };
  }
  const there: Capacity = {
    agents: present.agents + blocked.length,
    slots: blocked.reduce((sum, { slots }) => sum + slots, present.slots),
  };
  if (there.agents === 0 || (there.slots < demand.slots && known.slots >= demand.slots)) {
    const away = known.agents - there.agents;
    return {
      reason: "agents_away",
      detail: `${away} of the pool's ${known.agents} agents are away, with ${known.slots - there.slots} of its ${known.slots} slots`,
    };
  }
  const [first] = blocked;
  if (first !== undefined && there.slots >= demand.slots && !pool.agents.couldHold(demand)) {
    return { reason: first.block.kind, detail: blocksText(blocked) };
  }
  if (!leads) return { reason: "behind_others", detail: "others are ahead of it in the queue" };
  return pool.agents.without(demand.avoid ?? [], () => notEnough(pool, demand));
}

function notEnough({ agents }: Pool, demand: Demand): Reason {
  const { freeSlots, mostFree, present, blocked } = agents;
  const besides = [
    ...(blocked.length > 0 ? [blocksText(blocked)] : []),
    ...(demand.avoid === undefined || demand.avoid.length === 0
      ? []
      : [
          `its launch failed on ${demand.avoid.join(", ")}, where it is not tried again while another agent could take it`,
        ]),
  ];
  const but = besides.map((text) => `; ${text}`).join("");
  if (demand.slots === 0) {
    return {
      reason: "not_enough_free",
      detail: `every agent runs its maximum number of processes${but}`,
    };
  }
  const free = demand.singleAgent
    ? `at most ${Math.max(0, mostFree)} are free on one agent`
    : `${freeSlots} of ${present.slots} are free`;
  const needed = demand.slots === 1 ? "1 slot" : `${demand.slots} slots`;
  return { reason: "not_enough_free", detail: `it needs ${needed} and ${free}${but}` };
}

/** The first few: the others are blocked in the same way. */
function blocksText(blocked: readonly { readonly block: Block }[]): string {
  const named = blocked.slice(0, schedulingLimits.blocksNamedMax).map(({ block }) => block.detail);
  const more = blocked.length - named.length;
  return `${named.join("; ")}${more > 0 ? `; and ${more} more agents` : ""}`;
}
