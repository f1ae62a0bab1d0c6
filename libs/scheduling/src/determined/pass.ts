/**
 * A placement pass under Determined's rules. It converts the pool to Determined's model and the decision to grants and
 * stops.
 *
 * A run is a task, and its experiment is the job. A run is blocked from agents that do not meet its constraints or
 * where it failed lately; an agent counts only if all its slots meet the constraints. A run whose agents must share a
 * label's value goes to one agent. Preferred labels, time limits and quotas have no effect, and no slots are reserved.
 * Each pass visits the whole queue.
 */
import type { PoolAgents } from "../agents.ts";
import { admitsAgent, admitsSlot, type ConditionSet, conditionsOf } from "../constraints.ts";
import type { Demand, Grant, Pass, Share } from "../demand.ts";
import { schedulingLimits } from "../limits.ts";
import type { Pool } from "../pool.ts";
import type { PassOptions } from "../place.ts";
import { placeOf } from "../queue.ts";
import { waitingDemands } from "../waiting.ts";
import { fairShareSchedule } from "./fair-share.ts";
import type { Decision, DeterminedAgent, DeterminedTask, FitRules, Queue, Start } from "./model.ts";
import { determinedPolicyOf } from "./policies.ts";
import { prioritySchedule } from "./priority.ts";

export function determinedPass(
  pool: Pool,
  { grantsMax = schedulingLimits.grantsPerPassMax }: Pick<PassOptions, "grantsMax">,
): Pass {
  const { starts, releases } = decide(pool, queueOf(pool));
  const grants = grantsOf(starts.slice(0, grantsMax), pool.agents);
  const stops = releases
    .filter(({ task }) => pool.placed.get(task)?.stopping === false)
    .map(({ task, by }) => ({ id: task, by }));
  return { grants, stops, reservation: null, againAtMs: null };
}

export function fitRulesOf({ settings }: Pool): FitRules {
  return { policy: settings.fit === "pack" ? "best" : "worst", heterogeneous: false };
}

export function decide(pool: Pool, queue: Queue): Decision {
  const { policy, preemption } = pool.settings;
  const rules = fitRulesOf(pool);
  switch (determinedPolicyOf(policy)) {
    case "fair_share":
      return fairShareSchedule(queue, rules);
    case "priority":
      return prioritySchedule(queue, { ...rules, preemption });
  }
}

export function queueOf(pool: Pool): Queue {
  const waiting = waitingDemands(pool);
  const placed = [...pool.placed.all()].map(({ demand }) => demand);
  const demands = [...placed, ...waiting];
  const positions = new Map(demands.map((demand) => [demand.job, placeOf(demand)]));
  const blocked = new BlockedAgents(pool.agents);
  const taskOf = (demand: Demand, placement: DeterminedTask["placement"]): DeterminedTask => ({
    id: demand.id,
    job: demand.job,
    slots: demand.slots,
    preemptible: demand.preemptible,
    singleAgent: demand.singleAgent || (demand.constraints?.sameLabel ?? "") !== "",
    blockedAgents: placement === null ? blocked.of(demand) : [],
    jobSubmitted: placeOf(demand),
    requested: demand.arrival,
    placement,
  });
  return {
    agents: agentsOf(pool.agents),
    tasks: [
      ...placed.map((demand) => taskOf(demand, partsOf(pool.agents, demand.id))),
      ...waiting.map((demand) => taskOf(demand, null)),
    ],
    jobs: new Map(
      demands.map(({ job, priority, weight, maxSlots }) => [job, { priority, weight, maxSlots }]),
    ),
    positions,
  };
}

function partsOf(agents: PoolAgents, run: string): DeterminedTask["placement"] {
  return agents.sharesOf(run).map(({ agent, slots }) => ({ agent, slots: slots.length }));
}

function agentsOf(agents: PoolAgents): readonly DeterminedAgent[] {
  return [...agents.offers()].map(({ id, slots, disabled, takesWork }) => {
    const held = [...agents.holdersOf(id)].map((holder) => heldSlots(agents, holder, id));
    const used = new Set(held.flat());
    return {
      id,
      // A slot that was disabled or removed while a run holds it counts as a used slot until the run ends.
      slots: used.size + slots.filter((one) => !used.has(one.id) && !disabled.has(one.id)).length,
      usedSlots: used.size,
      slotlessMax: agents.slotlessMax,
      slotless: held.filter((one) => one.length === 0).length,
      takesWork,
    };
  });
}

function heldSlots(agents: PoolAgents, holder: string, id: string): readonly string[] {
  return agents.sharesOf(holder).find(({ agent }) => agent === id)?.slots ?? [];
}

/** The agents to which a run may not go; runs with equal conditions share the list. */
class BlockedAgents {
  readonly #agents: PoolAgents;
  readonly #byShape = new Map<string, readonly string[]>();

  constructor(agents: PoolAgents) {
    this.#agents = agents;
  }

  of(demand: Demand): readonly string[] {
    const { constraints, avoid = [], slots } = demand;
    if (constraints === undefined && avoid.length === 0) return [];
    const conditions = conditionsOf(constraints);
    const shape = `${conditions.shape}\n${slots === 0}`;
    let unfit = this.#byShape.get(shape);
    if (unfit === undefined) {
      unfit = [...(constraints?.excludedAgents ?? []), ...this.#unfit(conditions, slots === 0)];
      this.#byShape.set(shape, unfit);
    }
    // An agent where the run failed is used if no other agent could hold the run, as under Trainyard's rules.
    const avoided =
      avoid.length > 0 && this.#agents.without(avoid, () => this.#agents.couldHold(demand));
    return avoided ? [...unfit, ...avoid] : unfit;
  }

  #unfit({ alone, slotless }: ConditionSet, isSlotless: boolean): readonly string[] {
    const conditions = isSlotless ? slotless : alone;
    return [...this.#agents.offers()]
      .filter(
        ({ labels, slots }) =>
          !admitsAgent(conditions, labels) ||
          (!isSlotless && !slots.every((slot) => admitsSlot(conditions, slot))),
      )
      .map(({ id }) => id);
  }
}

/** Takes the next free slots of each agent, in the agent's order. */
function grantsOf(starts: readonly Start[], agents: PoolAgents): readonly Grant[] {
  const free = new Map<string, string[]>();
  const take = (agent: string, count: number): Share => {
    const left = free.get(agent) ?? [...agents.freeOf(agent, Number.POSITIVE_INFINITY)];
    free.set(agent, left);
    return { agent, slots: left.splice(0, count) };
  };
  return starts.map(({ task, parts }) => ({
    id: task,
    shares: parts.map(({ agent, slots }) => take(agent, slots)),
    borrowed: 0,
  }));
}
