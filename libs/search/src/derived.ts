/**
 * Values computed from a plan, each when it is first needed, and kept as long as the plan is. They are neither in
 * snapshots nor in questions: a value that is lost is computed again, and is the same.
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

/** Returns `make(plan)`, computed once for each plan that has `derived`, else each time. */
export function derivedFrom<Plan extends { readonly derived?: Derived }, Value>(
  plan: Plan,
  make: (plan: Plan) => Value,
): Value {
  return plan.derived === undefined ? make(plan) : plan.derived.get(make, () => make(plan));
}
