/** Placement under constraints, compared with a model that tries every set of agents. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { PoolAgents } from "./agents.ts";
import type { Constraints, LabelRule } from "./constraints.ts";
import { couldEverHold } from "./could-ever-hold.ts";
import type { Demand, Share } from "./demand.ts";
import { fit } from "./fit.ts";
import type { Slot } from "./offer.ts";

type Labels = Readonly<Record<string, string>>;
type Asked = Pick<Demand, "slots" | "singleAgent"> & {
  readonly constraints: Constraints;
  readonly how: "pack" | "spread";
};

const labelNames = ["zone", "rack", "spot"];
const values = ["a", "b"];
const agentIds = ["one", "two", "three", "four", "five"];
const agent = fc.constantFrom(...agentIds);
const kinds = fc.constantFrom("cpu", "cuda");
const memory = fc.constantFrom(16, 40, 80);

const labels: fc.Arbitrary<Labels> = fc.dictionary(
  fc.constantFrom(...labelNames),
  fc.constantFrom(...values),
);
const slots: fc.Arbitrary<readonly Slot[]> = fc
  .array(fc.record({ device: kinds, memoryBytes: memory }), { maxLength: 4 })
  .map((all) => all.map((slot, n) => ({ id: String(n), ...slot })));
const rule: fc.Arbitrary<LabelRule> = fc.record({
  label: fc.constantFrom(...labelNames),
  values: fc.subarray(values),
});
const rules = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.array(rule, { maxLength: 2 }) },
);
const asked: fc.Arbitrary<Asked> = fc.record({
  slots: fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 9 })),
  singleAgent: fc.boolean(),
  how: fc.constantFrom("pack" as const, "spread" as const),
  constraints: fc.record({
    device: fc.constantFrom("", "", "cpu", "cuda"),
    deviceMemoryBytes: fc.constantFrom(0, 0, 40, 80),
    required: rules,
    preferred: rules,
    forbidden: rules,
    excludedAgents: fc.oneof(fc.constant([]), fc.subarray(agentIds, { maxLength: 2 })),
    sameLabel: fc.constantFrom("", "", "rack", "zone"),
  }),
});

type Step =
  | { readonly kind: "join"; readonly agent: string; readonly slots: readonly Slot[] }
  | { readonly kind: "label"; readonly agent: string; readonly labels: Labels }
  | { readonly kind: "present" | "block"; readonly agent: string; readonly on: boolean }
  | {
      readonly kind: "disable";
      readonly agent: string;
      readonly slot: number;
      readonly on: boolean;
    }
  | { readonly kind: "remove"; readonly agent: string }
  | { readonly kind: "ask"; readonly asked: Asked; readonly take: boolean }
  | { readonly kind: "end"; readonly nth: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("join" as const), agent, slots }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("label" as const), agent, labels }) },
  fc.record({
    kind: fc.constantFrom("present" as const, "block" as const),
    agent,
    on: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("disable" as const),
    agent,
    slot: fc.nat({ max: 3 }),
    on: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("remove" as const), agent }),
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant("ask" as const), asked, take: fc.boolean() }),
  },
  fc.record({ kind: fc.constant("end" as const), nth: fc.nat() }),
);

const cluster = fc.array(fc.record({ slots, labels }), { maxLength: agentIds.length });

type ModelAgent = {
  readonly id: string;
  readonly slots: readonly Slot[];
  readonly labels: Labels;
  readonly present: boolean;
  readonly blocked: boolean;
  readonly disabled: ReadonlySet<string>;
};

function meets(own: Labels, { label, values: wanted }: LabelRule): boolean {
  const value = own[label];
  return value !== undefined && (wanted.length === 0 || wanted.includes(value));
}

/** A reference model of the pool that stores the agents and runs and computes each answer from them. */
class Model {
  readonly pool = new PoolAgents();
  readonly agents = new Map<string, ModelAgent>();
  readonly runs = new Map<string, readonly Share[]>();
  found = 0;
  #runs = 0;

  run(one: Step): void {
    if (one.kind === "ask") return this.#ask(one.asked, one.take);
    if (one.kind === "end")
      return this.#end([...this.runs.keys()][one.nth % (this.runs.size || 1)]);
    const known = this.agents.get(one.agent);
    if (one.kind === "join") {
      const { agent: id, slots: offered } = one;
      const blank = { labels: {}, blocked: false, disabled: new Set<string>() };
      return this.#set({ ...blank, ...known, id, slots: offered, present: true });
    }
    if (known === undefined) return;
    if (one.kind === "label") return this.#set({ ...known, labels: one.labels });
    if (one.kind === "present") return this.#set({ ...known, present: one.on });
    if (one.kind === "block") return this.#block(known, one.on);
    if (one.kind === "disable") return this.#disable(known, String(one.slot), one.on);
    this.agents.delete(one.agent);
    this.pool.remove(one.agent);
    // A removed agent that joins again is a new agent, without the block and the disabled slots of the earlier one.
    this.pool.setBlock(one.agent, null);
    for (const slot of known.disabled) this.pool.setSlotDisabled(one.agent, slot, false);
  }

  #set(next: ModelAgent): void {
    this.agents.set(next.id, next);
    this.pool.join(next.id, next, next.present);
  }

  #block(known: ModelAgent, on: boolean): void {
    this.agents.set(known.id, { ...known, blocked: on });
    this.pool.setBlock(known.id, on ? { kind: "low_disk", detail: "" } : null);
  }

  #disable(known: ModelAgent, slot: string, on: boolean): void {
    const disabled = new Set(known.disabled);
    if (on) disabled.add(slot);
    else disabled.delete(slot);
    this.agents.set(known.id, { ...known, disabled });
    this.pool.setSlotDisabled(known.id, slot, on);
  }

  #end(id: string | undefined): void {
    for (const share of this.runs.get(id ?? "") ?? []) this.pool.release(share.agent, id ?? "");
    if (id !== undefined) this.runs.delete(id);
  }

  #ask(one: Asked, take: boolean): void {
    const shares = fit(this.pool, one, one.how);
    expect(fit(this.pool, one, one.how), "asking changes nothing").toEqual(shares);
    const isPlace = this.#hasPlace(one, (known) => this.#freeOn(known, one).length);
    expect(shares !== null, "there is a place").toBe(isPlace);
    const ever =
      this.agents.size === 0 || this.#hasPlace(one, (known) => fits(known, one).length, true);
    const answer = couldEverHold(this.pool, one);
    expect(answer.possible, answer.detail).toBe(ever);
    expect(answer.detail === "").toBe(ever);
    if (shares === null) return;
    this.found += 1;
    this.#check(one, shares);
    if (!take) return;
    this.#runs += 1;
    const id = `run-${this.#runs}`;
    this.runs.set(id, shares);
    for (const share of shares) this.pool.hold(share.agent, id, share.slots);
  }

  /** Whether some set of agents has enough slots. */
  #hasPlace(one: Asked, count: (known: ModelAgent) => number, ever = false): boolean {
    const usable = [...this.agents.values()].filter(
      (known) => isAdmitted(known, one) && (ever || (known.present && !known.blocked)),
    );
    return subsets(usable).some((set) => {
      if (set.length === 0 || (set.length > 1 && (one.singleAgent || one.slots === 0)))
        return false;
      if (set.length > 1 && !isOneGroup(set, one)) return false;
      return set.reduce((sum, known) => sum + count(known), 0) >= one.slots;
    });
  }

  #freeOn(known: ModelAgent, one: Asked): readonly Slot[] {
    const taken = new Set(
      [...this.runs.values()]
        .flat()
        .filter((share) => share.agent === known.id)
        .flatMap((share) => share.slots),
    );
    return fits(known, one).filter(({ id }) => !taken.has(id) && !known.disabled.has(id));
  }

  #check(one: Asked, shares: readonly Share[]): void {
    const total = shares.reduce((sum, share) => sum + share.slots.length, 0);
    expect(total).toBe(one.slots);
    const members = shares.map((share) => this.agents.get(share.agent) as ModelAgent);
    expect(new Set(members).size).toBe(shares.length);
    if (one.singleAgent || one.slots === 0) expect(shares).toHaveLength(1);
    if (members.length > 1) expect(isOneGroup(members, one), "one group").toBe(true);
    for (const [at, share] of shares.entries()) {
      const known = members[at] as ModelAgent;
      expect(known.present && !known.blocked && isAdmitted(known, one), share.agent).toBe(true);
      const free = this.#freeOn(known, one).map(({ id }) => id);
      expect(new Set(share.slots).size).toBe(share.slots.length);
      expect(free).toEqual(expect.arrayContaining([...share.slots]));
    }
    this.#checkPreferred(one, members);
  }

  /** Checks that a run on one agent is on an agent with the most preferred labels. */
  #checkPreferred(one: Asked, members: readonly ModelAgent[]): void {
    const [member] = members;
    if (member === undefined || members.length > 1) return;
    const { preferred } = one.constraints;
    const score = (known: ModelAgent): number =>
      preferred.filter((wanted) => meets(known.labels, wanted)).length;
    const best = [...this.agents.values()]
      .filter((known) => known.present && !known.blocked && isAdmitted(known, one))
      .filter((known) => this.#freeOn(known, one).length >= one.slots);
    expect(score(member)).toBe(Math.max(...best.map(score)));
    if (one.slots === 0) return;
    const rest = best.filter((known) => score(known) === score(member));
    const counts = rest.map((known) => this.#freeOn(known, one).length);
    const mine = this.#freeOn(member, one).length;
    expect(mine).toBe(one.how === "pack" ? Math.min(...counts) : Math.max(...counts));
  }
}

function isAdmitted(known: ModelAgent, { constraints }: Asked): boolean {
  return (
    !constraints.excludedAgents.includes(known.id) &&
    constraints.required.every((wanted) => meets(known.labels, wanted)) &&
    !constraints.forbidden.some((wanted) => meets(known.labels, wanted))
  );
}

function fits(known: ModelAgent, { constraints }: Asked): readonly Slot[] {
  return known.slots.filter(
    ({ device, memoryBytes }) =>
      (constraints.device === "" || constraints.device === device) &&
      memoryBytes >= constraints.deviceMemoryBytes,
  );
}

function isOneGroup(set: readonly ModelAgent[], { constraints }: Asked): boolean {
  if (constraints.sameLabel === "") return true;
  const found = set.map((known) => known.labels[constraints.sameLabel]);
  return found[0] !== undefined && found.every((value) => value === found[0]);
}

function subsets<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return items.reduce<readonly (readonly Item[])[]>(
    (all, item) => [...all, ...all.map((set) => [...set, item])],
    [[]],
  );
}

test("a run under constraints gets a place if any set of agents has one, and no place breaks a constraint", () => {
  let found = 0;
  fc.assert(
    fc.property(cluster, fc.array(step, { minLength: 5, maxLength: 40 }), (offers, steps) => {
      const model = new Model();
      for (const [id, offer] of offers.entries()) {
        const one = agentIds[id] ?? "";
        model.run({ kind: "join", agent: one, slots: offer.slots });
        model.run({ kind: "label", agent: one, labels: offer.labels });
      }
      for (const one of steps) model.run(one);
      found += model.found;
    }),
    { numRuns: 500 },
  );
  // Checks that enough of the requests have a place.
  expect(found).toBeGreaterThan(500);
});
