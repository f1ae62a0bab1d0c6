/**
 * Decides whether the agents of a pool could hold a run if they were empty; if not, a sentence names the nearest agent.
 */
import type { PoolAgents, Wanted } from "./agents.ts";
import { admitsSlot, type Conditions, conditionsOf, isMet, type LabelRule } from "./constraints.ts";
import type { Offer, Slot } from "./offer.ts";
import { agentsText, labelTexts, slotsText } from "./texts.ts";
import { mostSlots } from "./view.ts";

export type PlaceAnswer = {
  readonly possible: boolean;
  /** The explanation; empty if the run is possible. */
  readonly detail: string;
  /** The key of `resources` in the configuration that cannot be satisfied; empty if the run is possible. */
  readonly key: "slots_per_trial" | "constraints" | "";
};

/**
 * Considers all agents that joined and were not removed, also absent, draining and blocked ones. In a pool without
 * agents every run is possible, since agents may still join. `pool` is the pool's name in the sentence.
 */
export function couldEverHold(agents: PoolAgents, wanted: Wanted, pool = ""): PlaceAnswer {
  if (agents.known.agents === 0 || agents.couldEverHold(wanted)) {
    return { possible: true, detail: "", key: "" };
  }
  const name = pool === "" ? "the pool" : `pool ${pool}`;
  return {
    possible: false,
    detail: togetherText(agents, wanted, name) ?? nearestText(agents, wanted, name),
    key: conditionsOf(wanted.constraints).shape === "" ? "slots_per_trial" : "constraints",
  };
}

/** Says how many slots the agents have together for a run on several agents; null if they have none. */
function togetherText(agents: PoolAgents, wanted: Wanted, pool: string): string | null {
  const { slots, singleAgent, constraints } = wanted;
  if (slots === 0 || singleAgent) return null;
  const { alone, together } = conditionsOf(constraints);
  const { sameLabel } = together;
  return agents.without(constraints?.excludedAgents ?? [], () => {
    let most = agents.view(alone).largest;
    let where = "";
    for (const [value, tiers] of agents.view(together).groups) {
      const here = mostSlots(tiers, ({ known }) => known);
      if (here < most) continue;
      most = here;
      where = value;
    }
    if (most === 0) return null;
    const group = where === "" ? "" : `, those with ${sameLabel} ${where}`;
    const quantity = sameLabel === "" ? "" : "at most ";
    return `all agents of ${pool}${agentsText(together)} have ${quantity}${slotsText(most, together)} together${group}, and the run needs ${slots}`;
  });
}

type Near = {
  readonly agent: Offer & { readonly id: string };
  /** Unmet conditions of the agent, except for the number of its slots. */
  readonly misses: readonly string[];
  /** The number of its slots that meet the conditions. */
  readonly fitting: number;
  /** The slot that is nearest to the conditions. */
  readonly slot: Slot | undefined;
};

function nearestText(agents: PoolAgents, wanted: Wanted, pool: string): string {
  const { alone } = conditionsOf(wanted.constraints);
  const excluded = new Set(wanted.constraints?.excludedAgents);
  // A run that may span agents needs only one slot of each.
  const slots = wanted.singleAgent ? wanted.slots : Math.min(wanted.slots, 1);
  let nearest: Near | null = null;
  for (const agent of agents.offers()) {
    const misses = missesOf(alone, agent.labels);
    if (excluded.has(agent.id)) misses.push("it is excluded");
    const fitting = agent.slots.filter((slot) => admitsSlot(alone, slot)).length;
    const [slot] = agent.slots.toSorted((a, b) => nearness(b, alone) - nearness(a, alone));
    const near = { agent, misses, fitting, slot };
    if (nearest === null || isNearer(near, nearest, alone)) nearest = near;
  }
  const asked = [...(slots === 0 ? [] : [slotsText(slots, alone)]), ...labelTexts(alone)];
  // Without other conditions, only the list of excluded agents can rule every agent out.
  const has = asked.length === 0 ? "is left" : `has ${asked.join(" and ")}`;
  return `no agent of ${pool} ${has}; the nearest is ${nearText(nearest as Near, slots, alone)}`;
}

function isNearer(one: Near, other: Near, wanted: Conditions): boolean {
  if (one.misses.length !== other.misses.length) return one.misses.length < other.misses.length;
  if (one.fitting !== other.fitting) return one.fitting > other.fitting;
  const difference = nearness(one.slot, wanted) - nearness(other.slot, wanted);
  return difference === 0 ? one.agent.slots.length > other.agent.slots.length : difference > 0;
}

/** Returns -1 for a slot of another kind; otherwise a number that rises with the slot's memory. */
function nearness(slot: Slot | undefined, { device, deviceMemoryBytes }: Conditions): number {
  if (slot === undefined || (device !== "" && slot.device !== device)) return -1;
  return deviceMemoryBytes > 0 ? slot.memoryBytes : 0;
}

function nearText(
  { agent, misses, fitting, slot }: Near,
  slots: number,
  { deviceMemoryBytes }: Conditions,
): string {
  let has = slot === undefined ? "no slots" : String(fitting);
  if (slot !== undefined && fitting === 0) {
    const { device, memoryBytes } = slot;
    const alike = agent.slots.filter(
      (other) => other.device === device && other.memoryBytes === memoryBytes,
    );
    const shown = deviceMemoryBytes > 0 ? memoryBytes : 0;
    has = slotsText(alike.length, { device, deviceMemoryBytes: shown });
  }
  const its = misses.length === 0 ? "" : `: ${misses.join(", ")}`;
  return `${agent.id}${slots === 0 ? "" : ` with ${has}`}${its}`;
}

function missesOf({ required, forbidden }: Conditions, labels: Offer["labels"]): string[] {
  const own = ({ label }: LabelRule): string => `its ${label} is ${labels[label]}`;
  return [
    ...required
      .filter((rule) => !isMet(rule, labels))
      .map((rule) => (Object.hasOwn(labels, rule.label) ? own(rule) : `it has no ${rule.label}`)),
    ...forbidden.filter((rule) => isMet(rule, labels)).map(own),
  ];
}
