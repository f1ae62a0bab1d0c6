/**
 * Looks each key up once for all calls that wait for it: while a lookup of a key runs, the calls that arrive share the
 * next one. So a caller with many calls at once delays no other caller, and no call gets the answer of a lookup that
 * began before the call.
 */
export class SharedLookups<Value> {
  readonly #look: (key: string) => Promise<Value>;
  /** Resolves for each key when its lookup has ended. */
  readonly #running = new Map<string, Promise<void>>();
  readonly #next = new Map<string, Promise<Value>>();

  constructor(look: (key: string) => Promise<Value>) {
    this.#look = look;
  }

  get(key: string): Promise<Value> {
    const shared = this.#next.get(key);
    if (shared !== undefined) return shared;
    const running = this.#running.get(key);
    if (running === undefined) return this.#start(key);
    const next = running.then(() => {
      this.#next.delete(key);
      return this.#start(key);
    });
    this.#next.set(key, next);
    return next;
  }

  #start(key: string): Promise<Value> {
    const answer = this.#look(key);
    const end = (): void => void this.#running.delete(key);
    this.#running.set(key, answer.then(end, end));
    return answer;
  }
}
