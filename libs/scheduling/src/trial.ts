/** Holds and releases slots to find out what would fit, and undoes the changes in reverse order. */
import type { PoolAgents } from "./agents.ts";
import type { Share } from "./demand.ts";

export class Trial {
  readonly agents: PoolAgents;
  readonly #undo: (() => void)[] = [];

  constructor(agents: PoolAgents) {
    this.agents = agents;
  }

  hold(holder: string, shares: readonly Share[]): void {
    for (const { agent, slots } of shares) this.agents.hold(agent, holder, slots);
    this.#undo.push(() => {
      for (const { agent } of shares) this.agents.release(agent, holder);
    });
  }

  /** Releases all slots of the holder and returns them. */
  release(holder: string): readonly Share[] {
    const shares = this.agents.sharesOf(holder);
    if (shares.length === 0) return shares;
    for (const { agent } of shares) this.agents.release(agent, holder);
    this.#undo.push(() => {
      for (const { agent, slots } of shares) this.agents.hold(agent, holder, slots);
    });
    return shares;
  }

  get mark(): number {
    return this.#undo.length;
  }

  rewind(mark = 0): void {
    while (this.#undo.length > mark) this.#undo.pop()?.();
  }

  /** Returns the result of `work`, and undoes its holds and releases. */
  attempt<T>(work: () => T): T {
    const { mark } = this;
    try {
      return work();
    } finally {
      this.rewind(mark);
    }
  }
}
