/** Holds and releases slots to see what would fit, and takes all of it back, the last first. */
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

  /** Releases all that the holder has, and returns it. */
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

  /** The outcome of some work, whose holds and releases are taken back. */
  attempt<T>(work: () => T): T {
    const { mark } = this;
    try {
      return work();
    } finally {
      this.rewind(mark);
    }
  }
}
