/**
 * A process that dies at one of its steps, for tests of crash recovery. A step is a statement of its database pool, or
 * an append to the log. The process dies before the step, which then never happens, or after it, without getting the
 * answer. From then on all its operations have no effect, and an open transaction is rolled back, like after a lost
 * connection.
 */
import type { EventLog } from "@trainyard/event-log";
import type { Pool, PoolClient } from "pg";

export type Death = {
  /** Counted from 1. */
  readonly step: number;
  readonly moment: "before" | "after";
};

class Died extends Error {
  override readonly name = "Died";
}

type AnyMethod = (...given: unknown[]) => Promise<unknown>;

export class Mortal {
  readonly #death: Death | null;
  #steps = 0;
  #isDead = false;

  /** With null the process never dies. */
  constructor(death: Death | null) {
    this.#death = death;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** The number of steps so far. */
  get steps(): number {
    return this.#steps;
  }

  pool(pool: Pool): Pool {
    return this.#over(pool, {
      query: (...given) => this.#step(() => (pool.query as AnyMethod).apply(pool, given)),
      connect: async () => this.#client(await pool.connect()),
    });
  }

  log(log: EventLog): EventLog {
    return this.#over(log, {
      append: (...given) => this.#step(() => (log.append as AnyMethod).apply(log, given)),
    });
  }

  #client(client: PoolClient): PoolClient {
    return this.#over(client, {
      query: (...given) => this.#step(() => (client.query as AnyMethod).apply(client, given)),
      release: async () => client.release(this.#isDead),
    });
  }

  #over<Target extends object>(target: Target, own: Readonly<Record<string, AnyMethod>>): Target {
    return new Proxy(target, {
      get: (from, name) => {
        const replaced = typeof name === "string" ? own[name] : undefined;
        if (replaced !== undefined) return replaced;
        const value: unknown = Reflect.get(from, name);
        return typeof value === "function" ? (value.bind(from) as unknown) : value;
      },
    });
  }

  async #step(act: () => Promise<unknown>): Promise<unknown> {
    if (this.#isDead) throw new Died("the process is dead");
    this.#steps += 1;
    const isStruck = this.#death?.step === this.#steps;
    if (isStruck && this.#death?.moment === "before") this.#die();
    const result = await act();
    if (isStruck) this.#die();
    return result;
  }

  #die(): never {
    this.#isDead = true;
    throw new Died("the process dies here");
  }
}

/**
 * Runs a scenario once without a death, and then once for each possible death. `live` gets the process and returns the
 * violations at the end; each is reported with its death.
 */
export async function strikeEach(
  live: (mortal: Mortal) => Promise<readonly string[]>,
): Promise<{ readonly lives: number; readonly violations: readonly string[] }> {
  const undisturbed = new Mortal(null);
  const violations = (await live(undisturbed)).map((what) => `undisturbed: ${what}`);
  let lives = 1;
  for (let step = 1; step <= undisturbed.steps; step += 1) {
    for (const moment of ["before", "after"] as const) {
      const mortal = new Mortal({ step, moment });
      const found = await live(mortal);
      lives += 1;
      const where = `death ${moment} step ${step}`;
      violations.push(...found.map((what) => `${where}: ${what}`));
      if (!mortal.isDead) violations.push(`${where}: it did not take place`);
    }
  }
  return { lives, violations };
}
