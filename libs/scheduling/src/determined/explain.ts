/** Explains why runs wait under Determined's rules, from the decision that the next pass would make. */
import type { Demand } from "../demand.ts";
import type { Pool } from "../pool.ts";
import { kindOf } from "../queue.ts";
import { areText, slotsText } from "../texts.ts";
import { waitingDemands } from "../waiting.ts";
import { findFits } from "./fit.ts";
import type { FitRules, Queue } from "./model.ts";
import { decide, fitRulesOf, queueOf } from "./pass.ts";
import { determinedPolicyOf } from "./policies.ts";
import { type Rooms, roomsOf } from "./rooms.ts";

export type DeterminedWait = {
  readonly demand: Demand;
  readonly reason: "preempting" | "behind_others" | "not_enough_free" | "fair_share" | "max_slots";
  readonly detail: string;
  readonly limit: string | null;
  /** The number of waiting runs ahead of the run, of its kind (with or without slots). */
  readonly ahead: number;
  readonly blockers: readonly string[];
  /** The first of the runs ahead that the run waits for; absent if it waits for none. */
  readonly leader?: string;
};

type Why = Pick<DeterminedWait, "reason" | "detail" | "limit" | "blockers" | "leader">;

/** The waiting runs in queue order, without those that the next pass starts. */
export function determinedWaits(pool: Pool): readonly DeterminedWait[] {
  const queue = queueOf(pool);
  const { starts, releases } = decide(pool, queue);
  const started = new Set(starts.map(({ task }) => task));
  const victimsOf = Map.groupBy(releases, ({ by }) => by);
  const looking: Looking = {
    pool,
    queue,
    tasks: new Map(queue.tasks.map((task) => [task.id, task])),
    rooms: roomsOf(queue.agents),
    rules: fitRulesOf(pool),
  };
  const waits: DeterminedWait[] = [];
  const leaders = { slotted: null as Demand | null, slotless: null as Demand | null };
  const ahead = { slotted: 0, slotless: 0 };
  for (const demand of waitingDemands(pool)) {
    const kind = kindOf(demand);
    const before = ahead[kind];
    ahead[kind] += 1;
    if (started.has(demand.id)) continue;
    leaders[kind] ??= demand;
    const victims = (victimsOf.get(demand.id) ?? []).map(({ task }) => task);
    const why =
      victims.length > 0 ? preempting(victims) : whyOf(demand, leaders[kind] ?? demand, looking);
    waits.push({ demand, ahead: before, ...why });
  }
  return waits;
}

type Looking = {
  readonly pool: Pool;
  readonly queue: Queue;
  readonly tasks: ReadonlyMap<string, Queue["tasks"][number]>;
  readonly rooms: Rooms;
  readonly rules: FitRules;
};

function preempting(victims: readonly string[]): Why {
  const detail = `${victims.join(", ")} ${victims.length === 1 ? "stops" : "stop"} to make room for the run`;
  return { reason: "preempting", detail, limit: null, blockers: victims };
}

function whyOf(demand: Demand, leader: Demand, looking: Looking): Why {
  switch (determinedPolicyOf(looking.pool.settings.policy)) {
    case "priority":
      return leader.priority < demand.priority ? behind(leader.id) : notEnough(demand, looking);
    case "fair_share":
      return whyByFairShare(demand, looking);
  }
}

function whyByFairShare(demand: Demand, looking: Looking): Why {
  const { pool, tasks, rooms, rules } = looking;
  const { placed } = pool;
  const held = placed.slotsOf(demand.job);
  const { slots, maxSlots } = demand;
  if (slots > 0 && maxSlots !== null && held + slots > maxSlots) {
    const detail = `the experiment holds ${held} of at most ${maxSlots} slots`;
    return { reason: "max_slots", detail, limit: `max_slots: ${maxSlots}`, blockers: [] };
  }
  const task = tasks.get(demand.id);
  if (task === undefined || findFits(task, rooms, rules) === null) {
    return notEnough(demand, looking);
  }
  const detail = `the experiment holds ${held} slots, and its fair share leaves too few for this run`;
  return { reason: "fair_share", detail, limit: "fair share", blockers: [] };
}

function behind(leader: string): Why {
  const detail = "runs of a better priority are ahead in the queue";
  return { reason: "behind_others", detail, limit: null, blockers: [], leader };
}

function notEnough(demand: Demand, { pool }: Looking): Why {
  const detail = notEnoughText(demand, pool);
  return { reason: "not_enough_free", detail, limit: null, blockers: [] };
}

function notEnoughText({ slots, singleAgent }: Demand, { agents }: Pool): string {
  if (slots === 0) return "every agent runs its maximum number of processes";
  const { freeSlots, mostFree, present } = agents;
  const needed = `the run needs ${slotsText(slots)}`;
  if (mostFree >= slots) return `${needed}, and they are not free where it may run`;
  if (singleAgent)
    return `${needed}, and at most ${Math.max(0, mostFree)} ${areText(mostFree)} free on one agent`;
  if (freeSlots < slots)
    return `${needed} and ${freeSlots} of ${present.slots} ${areText(freeSlots)} free`;
  return `${needed}, of one agent or of whole agents of one size, and the ${freeSlots} that are free are not`;
}
