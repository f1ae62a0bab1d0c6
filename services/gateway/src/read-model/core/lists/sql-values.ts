/** Collects the parameters of a statement, in the order of their numbers. */
export class SqlValues {
  readonly #values: unknown[] = [];

  /** Adds a value, and returns the parameter that refers to it. */
  add(value: unknown, type: string): string {
    this.#values.push(value);
    return `$${this.#values.length}::${type}`;
  }

  list(): unknown[] {
    return [...this.#values];
  }
}
