/** The parameters of a statement, in the order of their numbers. */
export class SqlValues {
  readonly #values: unknown[] = [];

  /** The parameter by which the statement has the value. */
  add(value: unknown, type: string): string {
    this.#values.push(value);
    return `$${this.#values.length}::${type}`;
  }

  list(): unknown[] {
    return [...this.#values];
  }
}
