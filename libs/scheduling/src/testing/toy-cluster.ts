/** A pool for tests whose grants and stops take effect at once, without messages; the test sets the time. */
import type { Demand, Pass, Share } from "../demand.ts";
import { place } from "../place.ts";
import { Pool } from "../pool.ts";
import { defaultSettings, type PoolSettings } from "../settings.ts";
import { exampleDemand } from "./example-demand.ts";
import { exampleOffer } from "./example-offer.ts";

export class ToyCluster {
  readonly pool: Pool;
  /** The slots of each placed run. */
  readonly running = new Map<string, readonly Share[]>();
  readonly stopping = new Set<string>();
  nowMs = 0;
  #arrivals = 0;
  #turns = 0;

  constructor(settings: Partial<PoolSettings> = {}, agents: Readonly<Record<string, number>> = {}) {
    // Runs make room at once, unless the test is about their exemption.
    this.pool = new Pool({ ...defaultSettings, preemptExemptMs: 0, ...settings });
    for (const [id, size] of Object.entries(agents)) this.join(id, size);
  }

  join(id: string, size: number): void {
    this.pool.agents.join(id, exampleOffer(size), true);
  }

  queue(id: string, slots: number, rest: Partial<Demand> = {}): Demand {
    this.#arrivals += 1;
    const times = { arrival: this.#arrivals, queuedAtMs: this.nowMs };
    const demand = { ...exampleDemand, id, job: id, slots, ...times, ...rest };
    this.pool.queue.add(demand);
    return demand;
  }

  pass(): Pass {
    const pass = place(this.pool, { nowMs: this.nowMs });
    for (const { id, shares, passed } of pass.grants) {
      const demand = this.pool.queue.find(id)?.demand;
      if (demand === undefined) throw new Error(`the pass placed ${id}, which is not queued`);
      this.pool.queue.remove(id);
      for (const { agent, slots } of shares) this.pool.agents.hold(agent, id, slots);
      const lender = passed?.onItsSlots === true ? passed.id : null;
      this.#turns += 1;
      const times = { atMs: this.nowMs, startedAtMs: this.nowMs };
      this.pool.start(demand, { turn: this.#turns, ...times, lender });
      if (passed !== undefined && passed.reserved.length > 0) {
        this.pool.record({ id: passed.id, shares: passed.reserved });
      }
      this.running.set(id, shares);
    }
    for (const { id } of pass.stops) {
      this.pool.stopping(id);
      this.stopping.add(id);
    }
    return pass;
  }

  /** Runs the next pass and returns the runs that it places. */
  placed(): readonly string[] {
    return this.pass().grants.map(({ id }) => id);
  }

  end(...ids: readonly string[]): void {
    for (const id of ids) {
      for (const { agent } of this.running.get(id) ?? []) this.pool.agents.release(agent, id);
      this.pool.end(id);
      this.running.delete(id);
      this.stopping.delete(id);
    }
  }
}
