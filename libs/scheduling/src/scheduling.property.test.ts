import fc from "fast-check";
import { expect, test } from "vitest";
import type { Demand, Grant } from "./demand.ts";
import { fit } from "./fit.ts";
import { place } from "./place.ts";
import { Pool } from "./pool.ts";
import { exampleDemand } from "./testing/example-demand.ts";
import { exampleOffer } from "./testing/example-offer.ts";

type Asked = Pick<Demand, "slots" | "priority" | "singleAgent">;

type Step =
  | { readonly kind: "join"; readonly agent: number; readonly size: number }
  | { readonly kind: "present"; readonly agent: number; readonly present: boolean }
  | {
      readonly kind: "disable";
      readonly agent: number;
      readonly slot: number;
      readonly off: boolean;
    }
  | { readonly kind: "queue"; readonly demand: Asked }
  | { readonly kind: "withdraw"; readonly nth: number }
  | { readonly kind: "end"; readonly nth: number }
  | { readonly kind: "pass" };

const agent = fc.nat({ max: 5 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("join" as const), agent, size: fc.nat(8) }),
  },
  fc.record({ kind: fc.constant("present" as const), agent, present: fc.boolean() }),
  fc.record({
    kind: fc.constant("disable" as const),
    agent,
    slot: fc.nat({ max: 7 }),
    off: fc.boolean(),
  }),
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("queue" as const),
      demand: fc.record({
        slots: fc.nat({ max: 12 }),
        priority: fc.integer({ min: 1, max: 3 }),
        singleAgent: fc.boolean(),
      }),
    }),
  },
  fc.record({ kind: fc.constant("withdraw" as const), nth: fc.nat() }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("end" as const), nth: fc.nat() }) },
  { weight: 4, arbitrary: fc.constant({ kind: "pass" as const }) },
);

type ModelAgent = { size: number; present: boolean; readonly disabled: Set<string> };

/** A reference model of the pool that stores agents and runs and computes each answer from them. */
class Model {
  readonly pool = new Pool();
  readonly agents = new Map<string, ModelAgent>();
  readonly waiting = new Map<string, Demand>();
  readonly running = new Map<string, Grant>();
  #arrivals = 0;

  run(one: Step): void {
    switch (one.kind) {
      case "join": {
        // An agent keeps its size in this test; slots that vanish while they are held are tested with the fold.
        const id = `agent-${one.agent}`;
        const size = this.agents.get(id)?.size ?? one.size;
        const disabled = this.agents.get(id)?.disabled ?? new Set<string>();
        this.agents.set(id, { size, present: true, disabled });
        this.pool.agents.join(id, exampleOffer(size), true);
        return;
      }
      case "present": {
        const known = this.agents.get(`agent-${one.agent}`);
        if (known === undefined) return;
        known.present = one.present;
        this.pool.agents.join(`agent-${one.agent}`, exampleOffer(known.size), one.present);
        return;
      }
      case "disable": {
        const known = this.agents.get(`agent-${one.agent}`);
        if (one.off) known?.disabled.add(String(one.slot));
        else known?.disabled.delete(String(one.slot));
        this.pool.agents.setSlotDisabled(`agent-${one.agent}`, String(one.slot), one.off);
        return;
      }
      case "queue": {
        this.#arrivals += 1;
        const demand = {
          ...exampleDemand,
          ...one.demand,
          id: `d${this.#arrivals}`,
          arrival: this.#arrivals,
        };
        this.waiting.set(demand.id, demand);
        this.pool.queue.add(demand);
        return;
      }
      case "withdraw":
        return this.#withdraw([...this.waiting.keys()][one.nth % (this.waiting.size || 1)]);
      case "end":
        return this.#end([...this.running.keys()][one.nth % (this.running.size || 1)]);
      case "pass":
        return this.#pass();
    }
  }

  #withdraw(id: string | undefined): void {
    if (id === undefined) return;
    this.waiting.delete(id);
    this.pool.queue.remove(id);
  }

  #end(id: string | undefined): void {
    const grant = id === undefined ? undefined : this.running.get(id);
    if (grant === undefined) return;
    this.running.delete(grant.id);
    for (const share of grant.shares) this.pool.agents.release(share.agent, grant.id);
  }

  #pass(): void {
    const again = place(this.pool, { nowMs: 0 });
    const { grants } = place(this.pool, { nowMs: 0 });
    expect(again.grants, "a pass leaves the pool as it was").toEqual(grants);
    for (const grant of grants) {
      this.#check(grant);
      this.waiting.delete(grant.id);
      this.running.set(grant.id, grant);
      this.pool.queue.remove(grant.id);
      for (const { agent: id, slots } of grant.shares) this.pool.agents.hold(id, grant.id, slots);
    }
    this.#checkSlots();
    this.#checkNothingFits();
  }

  /** Checks that a grant is all or nothing, on agents that take work, and names each agent once. */
  #check(grant: Grant): void {
    const demand = this.waiting.get(grant.id) as Demand;
    const slots = grant.shares.reduce((sum, share) => sum + share.slots.length, 0);
    expect(slots).toBe(demand.slots);
    expect(new Set(grant.shares.map((share) => share.agent)).size).toBe(grant.shares.length);
    if (demand.singleAgent || demand.slots === 0) expect(grant.shares).toHaveLength(1);
    for (const share of grant.shares) {
      const known = this.agents.get(share.agent) as ModelAgent;
      expect(known.present).toBe(true);
      for (const slot of share.slots) {
        expect(Number(slot)).toBeLessThan(known.size);
        expect(known.disabled.has(slot)).toBe(false);
      }
    }
  }

  #checkSlots(): void {
    const holders = new Map<string, string>();
    for (const grant of this.running.values()) {
      for (const share of grant.shares) {
        for (const slot of share.slots) {
          const key = `${share.agent}/${slot}`;
          expect(holders.get(key), `${key} is in one allocation`).toBeUndefined();
          holders.set(key, grant.id);
        }
      }
    }
    const free = [...this.agents].flatMap(([id, { size, present, disabled }]) =>
      Array.from({ length: present ? size : 0 }, (_, n) => String(n)).filter(
        (slot) => !disabled.has(slot) && !holders.has(`${id}/${slot}`),
      ),
    );
    expect(this.pool.agents.freeSlots).toBe(free.length);
  }

  /** Checks that after a pass no run of the best waiting priority fits. */
  #checkNothingFits(): void {
    const slotted = [...this.waiting.values()].filter((demand) => demand.slots > 0);
    const best = Math.min(...slotted.map((demand) => demand.priority));
    for (const demand of slotted) {
      if (demand.priority === best) expect(fit(this.pool.agents, demand)).toBeNull();
    }
  }
}

test("slots are never oversubscribed, grants are all or nothing, and no run that fits is left waiting", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const model = new Model();
      for (const one of steps) model.run(one);
      model.run({ kind: "pass" });
    }),
    { numRuns: 300 },
  );
});

test("a demand that may be split is placed if any split exists", () => {
  const sizes = fc.array(fc.nat({ max: 6 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(sizes, fc.integer({ min: 1, max: 36 }), (agents, slots) => {
      const pool = new Pool();
      for (const [n, size] of agents.entries()) {
        pool.agents.join(`a${n}`, exampleOffer(size), true);
      }
      const total = agents.reduce((sum, size) => sum + size, 0);
      const shares = fit(pool.agents, { slots, singleAgent: false });
      expect(shares !== null).toBe(slots <= total);
    }),
  );
});
