/**
 * Values computed from a plan on first use and kept as long as the plan. They are in neither snapshots nor questions: a
 * lost value is recomputed and is the same.
 */
export class Derived {
  readonly #values = new Map<unknown, unknown>();

  /** Returns the value under a key, which is the function that makes it. */
  get<Value>(key: unknown, make: () => Value): Value {
    if (!this.#values.has(key)) this.#values.set(key, make());
    return this.#values.get(key) as Value;
  }

  toJSON(): undefined {
    return undefined;
  }
}

/** Returns `make(plan)`, computed once per plan if the plan has `derived`, otherwise at each call. */
export function derivedFrom<Plan extends { readonly derived?: Derived }, Value>(
  plan: Plan,
  make: (plan: Plan) => Value,
): Value {
  return plan.derived === undefined ? make(plan) : plan.derived.get(make, () => make(plan));
}
