/**
 * The new agents that the queue of a pool wants.
 *
 * The waiting runs are placed by priority and place, by the rules of the pool itself, on what is free now and on agents
 * that are starting; new agents are added only for a run that finds no room there, and only as many as give it room. So
 * a run that fits on what is there starts no agent, free slots that are too scattered for a run do not count for it,
 * and a run whose conditions a new agent does not meet starts none. Runs that wait for the limit of their job or for
 * the quota of their workspace want no agent.
 *
 * Determined's arithmetic is `determinedNewAgents`.
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
  /** Beside those that are starting. */
  readonly newAgents: number;
  /** Agents on which a waiting run has room: idle ones among them are not to be ended. */
  readonly inUse: ReadonlySet<string>;
};

export type PlanInput = {
  /** The plan does not change the pool. */
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
  // With all new agents there from the start, runs are placed differently, and another one may have no room.
  for (let more = wanted.newAgents; more > 0; ) {
    const again = planOnce(input, waiting, wanted.newAgents);
    more = again.newAgents - wanted.newAgents;
    wanted = again;
  }
  return wanted;
}

/** `known` new agents are there from the start. */
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
      // Room only shrinks: a run equal to one without room has none either.
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

  /** With the fewest new agents that give it room; none are added where even the most do not. */
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

  /** The most new agents that a run can have parts on. */
  #usefulAgents({ slots, singleAgent }: Demand): number {
    const slotsPerAgent = this.#input.newAgent.slots.length;
    if (slots <= slotsPerAgent) return 1;
    return singleAgent || slotsPerAgent === 0 ? 0 : Math.ceil(slots / slotsPerAgent);
  }
}
