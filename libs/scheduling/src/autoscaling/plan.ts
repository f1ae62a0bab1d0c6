/**
 * Plans the new agents that the queue of a pool needs.
 *
 * The waiting runs are placed in queue order, by the rules of the pool, on the free slots and on agents that are
 * starting. New agents are added only for a run that has no room on those, and only as many as it needs. A run that
 * fits on the free slots adds no agent, and neither does a run whose constraints a new agent does not meet. Free slots
 * that are too scattered for a run do not count as room. Runs that wait for the limit of their job or for the quota of
 * their workspace add no agent.
 *
 * `determinedNewAgents` is the formula of pools with `compat: determined`.
 */
import { type Demand, shapeOf } from "../demand.ts";
import { fit } from "../fit.ts";
import { limitOf } from "../limits-of-runs.ts";
import type { Offer } from "../offer.ts";
import type { Pool } from "../pool.ts";
import { Standing } from "../standing.ts";
import { Trial } from "../trial.ts";
import { waitingDemands } from "../waiting.ts";

export type AgentsWanted = {
  /** The number of agents to start, without those that are already starting. */
  readonly newAgents: number;
  /** Ids of the agents on which a waiting run has room: idle ones among them must be kept. */
  readonly inUse: ReadonlySet<string>;
};

export type PlanInput = {
  /** A pool that the plan leaves unchanged. */
  readonly pool: Pool;
  /** Agents that were launched and have not joined yet. */
  readonly starting: number;
  readonly newAgentsMax: number;
  /** The offer of an agent that autoscaling starts. */
  readonly newAgent: Offer;
};

export function planAgents(input: PlanInput): AgentsWanted {
  const waiting = waitingDemands(input.pool);
  let wanted = planOnce(input, waiting, 0);
  // Runs are placed differently when all new agents exist from the start, so another run may lack room then.
  for (let more = wanted.newAgents; more > 0; ) {
    const again = planOnce(input, waiting, wanted.newAgents);
    more = again.newAgents - wanted.newAgents;
    wanted = again;
  }
  return wanted;
}

/** Plans once; `known` new agents exist from the start. */
function planOnce(input: PlanInput, waiting: readonly Demand[], known: number): AgentsWanted {
  const plan = new Plan(input);
  try {
    for (let n = 0; n < input.starting + known; n += 1) plan.addAgent();
    return plan.run(waiting);
  } finally {
    plan.undo();
  }
}

class Plan {
  readonly #input: PlanInput;
  readonly #trial: Trial;
  readonly #standing: Standing;
  readonly #added: string[] = [];
  readonly #inUse = new Set<string>();

  constructor(input: PlanInput) {
    this.#input = input;
    this.#trial = new Trial(input.pool.agents);
    this.#standing = new Standing(input.pool.placed);
  }

  run(waiting: readonly Demand[]): AgentsWanted {
    const { pool } = this.#input;
    const withoutRoom = new Set<string>();
    for (const demand of waiting) {
      const shape = shapeOf(demand);
      // Room only shrinks in this loop: if a run had no room, no run of the same shape has room.
      if (withoutRoom.has(shape) || limitOf(demand, pool, this.#standing) !== null) continue;
      if (!this.#place(demand) && !this.#placeWithNewAgents(demand)) withoutRoom.add(shape);
    }
    for (const added of this.#added) this.#inUse.delete(added);
    return { newAgents: this.#added.length - this.#input.starting, inUse: this.#inUse };
  }

  addAgent(): void {
    const id = `new agent ${this.#added.length + 1}`;
    this.#input.pool.agents.join(id, this.#input.newAgent, true);
    this.#added.push(id);
  }

  undo(): void {
    this.#trial.rewind();
    while (this.#added.length > 0) this.#removeAgent();
  }

  #removeAgent(): void {
    const id = this.#added.pop();
    if (id !== undefined) this.#input.pool.agents.remove(id);
  }

  #place(demand: Demand): boolean {
    const { agents, settings } = this.#input.pool;
    const shares = fit(agents, demand, settings.fit);
    if (shares === null) return false;
    this.#trial.hold(demand.id, shares);
    this.#standing.grant(demand);
    for (const { agent } of shares) this.#inUse.add(agent);
    return true;
  }

  /** Adds the fewest new agents on which the run fits, or none if it does not fit on the most that are allowed. */
  #placeWithNewAgents(demand: Demand): boolean {
    const { newAgentsMax, starting } = this.#input;
    const before = this.#added.length;
    const most = Math.min(newAgentsMax + starting, before + this.#usefulAgents(demand));
    while (this.#added.length < most) {
      this.addAgent();
      if (this.#place(demand)) return true;
    }
    while (this.#added.length > before) this.#removeAgent();
    return false;
  }

  /** The most new agents that one run can use. */
  #usefulAgents({ slots, singleAgent }: Demand): number {
    const slotsPerAgent = this.#input.newAgent.slots.length;
    if (slots <= slotsPerAgent) return 1;
    return singleAgent || slotsPerAgent === 0 ? 0 : Math.ceil(slots / slotsPerAgent);
  }
}
