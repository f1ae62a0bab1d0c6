/** Runs one task at a time per key, in the order of the calls; different keys do not wait for each other. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<void>>();

  async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const result = before.then(task);
    // A failed task does not stop later ones; its caller gets the failure.
    const done = result.then(
      () => {},
      () => {},
    );
    this.#last.set(key, done);
    void done.then(() => {
      if (this.#last.get(key) === done) this.#last.delete(key);
    });
    return result;
  }
}
