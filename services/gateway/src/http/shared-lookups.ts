/** Returns the values of those keys that have one. */
export type Lookup<Value> = (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>;

/**
 * Looks up the keys of all calls that wait in one query: while a lookup runs, the calls that arrive share the next one.
 * So neither a caller with many calls at once nor a flood of unknown keys delays another caller by more than a lookup,
 * and no call gets the answer of a lookup that began before the call.
 */
export class SharedLookups<Value> {
  readonly #look: Lookup<Value>;
  /** Resolves when the lookup before the next one has ended. */
  #running: Promise<unknown> = Promise.resolve();
  #next: {
    readonly keys: Set<string>;
    readonly found: Promise<ReadonlyMap<string, Value>>;
  } | null = null;

  constructor(look: Lookup<Value>) {
    this.#look = look;
  }

  async get(key: string): Promise<Value | undefined> {
    this.#next ??= this.#prepare();
    this.#next.keys.add(key);
    return (await this.#next.found).get(key);
  }

  #prepare() {
    const keys = new Set<string>();
    const found = this.#running.then(() => {
      this.#next = null;
      return this.#look([...keys]);
    });
    this.#running = found.catch(() => {});
    return { keys, found };
  }
}
