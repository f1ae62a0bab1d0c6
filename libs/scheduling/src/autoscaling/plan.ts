/**
 * The new agents that the queue of a pool wants.
 *
 * The waiting runs are placed in queue order, by the rules of the pool itself, on what is free now and on agents that are
 * starting; new agents are added only for a run that finds no room there, and only as many as give it room. So a run that
 * fits on what is there starts no agent, free slots that are too scattered for a run do not count for it, and a run whose
 * conditions a new agent does not meet starts none. Runs that wait for the limit of their job want no agent.
 *
 * Determined's arithmetic is `determinedNewAgents`.
 */
import type { PoolAgents } from "../agents.ts";
import { type Demand, shapeOf } from "../demand.ts";
import { fit } from "../fit.ts";

export type AgentsWanted = {
  /** Beside those that are starting. */
  readonly newAgents: number;
  /** Agents on which a waiting run has room: idle ones among them are not to be ended. */
  readonly inUse: ReadonlySet<string>;
};

export type PlanInput = {
  /** Left as it was found. */
  readonly agents: PoolAgents;
  /** In queue order. */
  readonly waiting: Iterable<Demand>;
  /** The slots that the placed runs of a job hold. */
  readonly heldBy: (job: string) => number;
  /** Agents that were launched and have not joined yet. */
  readonly starting: number;
  readonly newAgentsMax: number;
  readonly slotsPerAgent: number;
};

export function planAgents(input: PlanInput): AgentsWanted {
  const plan = new Plan(input);
  try {
    for (let n = 0; n < input.starting; n += 1) plan.addAgent();
    return plan.run();
  } finally {
    plan.undo();
  }
}

class Plan {
  readonly #input: PlanInput;
  readonly #added: string[] = [];
  readonly #held: { readonly agent: string; readonly run: string }[] = [];
  readonly #slotsOfJobs = new Map<string, number>();

  constructor(input: PlanInput) {
    this.#input = input;
  }

  run(): AgentsWanted {
    const { waiting, starting } = this.#input;
    const withoutRoom = new Set<string>();
    for (const demand of waiting) {
      const shape = shapeOf(demand);
      // Room only shrinks: a run equal to one without room has none either.
      if (withoutRoom.has(shape) || this.#isOverLimit(demand)) continue;
      if (!this.#place(demand) && !this.#placeWithNewAgents(demand)) withoutRoom.add(shape);
    }
    const added = new Set(this.#added);
    return {
      newAgents: added.size - starting,
      inUse: new Set(this.#held.map(({ agent }) => agent).filter((id) => !added.has(id))),
    };
  }

  addAgent(): void {
    const id = `new agent ${this.#added.length + 1}`;
    this.#input.agents.join(id, newSlots(this.#input.slotsPerAgent), true);
    this.#added.push(id);
  }

  #removeAgent(): void {
    const id = this.#added.pop();
    if (id !== undefined) this.#input.agents.join(id, [], false);
  }

  undo(): void {
    for (const { agent, run } of this.#held) this.#input.agents.release(agent, run);
    while (this.#added.length > 0) this.#removeAgent();
  }

  #isOverLimit({ job, slots, maxSlots }: Demand): boolean {
    const held = this.#slotsOfJobs.get(job) ?? this.#input.heldBy(job);
    return maxSlots !== null && held + slots > maxSlots;
  }

  #place(demand: Demand): boolean {
    const shares = fit(this.#input.agents, demand);
    if (shares === null) return false;
    for (const { agent, slots } of shares) {
      this.#input.agents.hold(agent, demand.id, slots);
      this.#held.push({ agent, run: demand.id });
    }
    const held = this.#slotsOfJobs.get(demand.job) ?? this.#input.heldBy(demand.job);
    this.#slotsOfJobs.set(demand.job, held + demand.slots);
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
    const { slotsPerAgent } = this.#input;
    if (slots <= slotsPerAgent) return 1;
    return singleAgent || slotsPerAgent === 0 ? 0 : Math.ceil(slots / slotsPerAgent);
  }
}

function newSlots(count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => String(n));
}
