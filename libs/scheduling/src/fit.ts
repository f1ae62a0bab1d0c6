/**
 * Finds agents for a demand, all or nothing, in this order:
 *
 * 1. One agent. Packing takes the agent with the fewest free slots that suffice (best fit), so that large agents stay
 *    whole for large runs. Spreading takes the agent with the most free slots. A run without slots goes to the agent
 *    with the fewest such runs.
 * 2. Equal shares on whole agents of one size, the largest size that divides the demand, which suits distributed
 *    training best.
 * 3. Unequal shares on the agents with the most free slots. Packing takes for the last share the agent with the fewest
 *    free slots that suffice.
 *
 * In each step agents with more of the preferred labels come first. If the agents of a run must share a label's value,
 * steps 2 and 3 use one group of agents with the same value: the group with the fewest free slots that suffice
 * (spreading: the most), or, with preferred labels, the group with the most of these.
 *
 * Steps 1 and 2 are Determined's shared and dedicated fit. Step 3 finds splits that its heterogeneous fit misses (10
 * slots over agents of 8, 6 and 4).
 *
 * Agents that a demand avoids are left out for as long as it avoids them, unless no other agent could hold the demand
 * if it were empty.
 */
import type { AgentIndex } from "./agent-index.ts";
import type { PoolAgents } from "./agents.ts";
import { type ConditionSet, type Conditions, conditionsOf } from "./constraints.ts";
import type { Demand, Share } from "./demand.ts";
import { schedulingLimits } from "./limits.ts";
import type { PoolSettings } from "./settings.ts";
import type { Tiers } from "./view.ts";

type Shape = Pick<Demand, "slots" | "singleAgent" | "avoid" | "constraints">;
type How = PoolSettings["fit"];
/** The slots that a run takes of one agent; `ordinal` is the agent's number in the pool. */
type Part = { readonly ordinal: number; readonly slots: number; readonly tier: number };

/** Returns the shares in node rank order; null if the demand does not fit now. */
export function fit(agents: PoolAgents, demand: Shape, how: How = "pack"): readonly Share[] | null {
  const { avoid = [], constraints } = demand;
  const conditions = conditionsOf(constraints);
  return agents.without(constraints?.excludedAgents ?? [], () => {
    if (avoid.length === 0) return fitAnywhere(agents, demand, conditions, how);
    const elsewhere = agents.without(avoid, () => {
      const shares = fitAnywhere(agents, demand, conditions, how);
      return { shares, isPossible: shares !== null || agents.couldHold(demand) };
    });
    // If no other agent could ever hold the run, it returns at once to an agent where it failed.
    if (elsewhere.isPossible) return elsewhere.shares;
    return fitAnywhere(agents, demand, conditions, how);
  });
}

function fitAnywhere(
  agents: PoolAgents,
  { slots, singleAgent }: Shape,
  { alone, together, slotless }: ConditionSet,
  how: How,
): readonly Share[] | null {
  if (slots === 0) {
    const below = agents.slotlessMax;
    const one = firstOf(tiersOf(agents, slotless), (tier) => tier.leastSlotless(below));
    return one === undefined ? null : sharesOf(agents, slotless, [{ ...one, slots: 0 }]);
  }
  const one = firstOf(tiersOf(agents, alone), (tier) =>
    how === "pack" ? tier.tightest(slots) : tier.roomiest(slots),
  );
  if (one !== undefined) return sharesOf(agents, alone, [{ ...one, slots }]);
  if (singleAgent) return null;
  const groups = groupsFor(agents, together, slots, how);
  const parts =
    best(groups, (tiers) => equalParts(tiers, slots)) ??
    best(groups, (tiers) => unequalParts(tiers, slots, how));
  return parts === null ? null : sharesOf(agents, together, parts);
}

/** The tiers of agents for conditions without `sameLabel`, which form a single group. */
function tiersOf(agents: PoolAgents, conditions: Conditions): Tiers {
  for (const [, tiers] of agents.view(conditions).groups) return tiers;
  return [];
}

function firstOf(
  tiers: Tiers,
  find: (tier: AgentIndex) => number | undefined,
): { readonly ordinal: number; readonly tier: number } | undefined {
  for (const [tier, index] of tiers.entries()) {
    const ordinal = find(index);
    if (ordinal !== undefined) return { ordinal, tier };
  }
  return undefined;
}

/** The groups with enough free slots, in the order in which they are tried. */
function groupsFor(
  agents: PoolAgents,
  conditions: Conditions,
  slots: number,
  how: How,
): readonly Tiers[] {
  const groups: { readonly tiers: Tiers; readonly free: number }[] = [];
  for (const [, tiers] of agents.view(conditions).groups) {
    const free = tiers.reduce((sum, tier) => sum + tier.freeSlots, 0);
    if (free >= slots) groups.push({ tiers, free });
  }
  const order = how === "pack" ? 1 : -1;
  return groups.sort((a, b) => order * (a.free - b.free)).map(({ tiers }) => tiers);
}

/** Returns the groups' placement with the most slots on preferred agents; among equals, the first group's. */
function best(
  groups: readonly Tiers[],
  partsOn: (tiers: Tiers) => readonly Part[] | null,
): readonly Part[] | null {
  let found: { readonly parts: readonly Part[]; readonly cost: number } | null = null;
  for (const tiers of groups) {
    const parts = partsOn(tiers);
    if (parts === null) continue;
    const cost = parts.reduce((sum, { slots, tier }) => sum + slots * tier, 0);
    if (found === null || cost < found.cost) found = { parts, cost };
    if (cost === 0) break;
  }
  return found?.parts ?? null;
}

function equalParts(tiers: Tiers, slots: number): readonly Part[] | null {
  const sizes = new Set(tiers.flatMap((tier) => tier.wholeSizes()));
  for (const size of [...sizes].sort((a, b) => b - a)) {
    const nodes = slots / size;
    if (!Number.isInteger(nodes) || nodes > schedulingLimits.nodesPerAllocationMax) continue;
    const whole = tiers.map((tier) => tier.wholeOf(size));
    if (whole.reduce((sum, { length }) => sum + length, 0) < nodes) continue;
    const parts: Part[] = [];
    for (const [tier, ordinals] of whole.entries()) {
      const here = ordinals.slice(0, nodes - parts.length);
      parts.push(...here.map((ordinal) => ({ ordinal, slots: size, tier })));
    }
    return parts;
  }
  return null;
}

/**
 * Divides a run over preferred agents first; if that takes too many agents, over the largest agents, whatever their
 * labels.
 */
function unequalParts(tiers: Tiers, slots: number, how: How): readonly Part[] | null {
  const parts = unequalOf(tiers, byMostFree(tiers), slots, how);
  if (parts !== null || tiers.length === 1) return parts;
  const largestFirst = [...byMostFree(tiers)].sort((a, b) => b.free - a.free);
  return unequalOf(tiers, largestFirst, slots, how);
}

type Free = { readonly ordinal: number; readonly free: number; readonly tier: number };

function unequalOf(
  tiers: Tiers,
  agents: Iterable<Free>,
  slots: number,
  how: How,
): readonly Part[] | null {
  const parts: Part[] = [];
  const taken = new Set<number>();
  let missing = slots;
  for (const { ordinal, free, tier } of agents) {
    if (free >= missing) {
      const tightest = how === "pack" ? tiers[tier]?.tightest(missing) : undefined;
      // An agent that already has a part is not taken again for the rest.
      const last = tightest === undefined || taken.has(tightest) ? ordinal : tightest;
      parts.push({ ordinal: last, slots: missing, tier });
      return parts;
    }
    if (parts.length + 1 >= schedulingLimits.nodesPerAllocationMax) return null;
    parts.push({ ordinal, slots: free, tier });
    taken.add(ordinal);
    missing -= free;
  }
  return null;
}

function* byMostFree(tiers: Tiers): Generator<Free> {
  for (const [tier, index] of tiers.entries()) {
    for (const entry of index.byMostFree()) yield { ...entry, tier };
  }
}

function sharesOf(
  agents: PoolAgents,
  conditions: Conditions,
  parts: readonly Part[],
): readonly Share[] {
  return parts.map(({ ordinal, slots }) => agents.share(ordinal, conditions, slots));
}
