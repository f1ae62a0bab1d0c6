/**
 * What follows from a plan, computed when it is first asked for, and kept as long as the plan is. It is neither in
 * snapshots nor in questions: what is lost is computed again, and is the same.
 */
export class Derived {
  readonly #values = new Map<unknown, unknown>();

  /** The value under a key, which is the function that makes it. */
  get<Value>(key: unknown, make: () => Value): Value {
    if (!this.#values.has(key)) this.#values.set(key, make());
    return this.#values.get(key) as Value;
  }

  toJSON(): undefined {
    return undefined;
  }
}

/** What `make` gives for a plan. One without `derived` is not known for long: nothing is kept of it. */
export function derivedFrom<Plan extends { readonly derived?: Derived }, Value>(
  plan: Plan,
  make: (plan: Plan) => Value,
): Value {
  return plan.derived === undefined ? make(plan) : plan.derived.get(make, () => make(plan));
}
