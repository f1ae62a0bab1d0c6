import { place, Pool, type Share } from "@trainyard/scheduling";
import { allRules, demandOf, randomOf, slotsPerAgent } from "./workload.ts";

/** The pool and its fold, with grants and stops that take effect at once. */
export class OurPool {
  readonly #pool = new Pool(allRules);
  readonly #running: string[] = [];
  readonly #places = new Map<string, readonly Share[]>();
  readonly #random = randomOf(7);
  #queued = 0;
  #nowMs = 0;
  readonly #waiting: number;

  constructor(agents: number, waiting: number) {
    this.#waiting = waiting;
    const slots = Array.from({ length: slotsPerAgent }, (_, n) => ({
      id: String(n),
      device: "cuda",
      memoryBytes: 80e9,
    }));
    for (let n = 0; n < agents; n += 1)
      this.#pool.agents.join(`a${n}`, { slots, labels: {} }, true);
    this.#refill();
    // Runs that make room keep a full pool moving: it is full when no slot of it is free, or few are.
    while (this.#pool.agents.freeSlots > agents && this.pass() > 0) this.#refill();
  }

  /** A random run ends; another one arrives. */
  endOne(): void {
    const at = Math.floor(this.#random() * this.#running.length);
    const id = this.#running[at];
    if (id === undefined) return;
    this.#running[at] = this.#running[this.#running.length - 1] ?? "";
    this.#running.pop();
    this.#end(id);
    this.#refill();
  }

  /** The number of runs that it places. */
  pass(): number {
    this.#nowMs += 10;
    const { grants, stops } = place(this.#pool, { nowMs: this.#nowMs });
    for (const { id, shares } of grants) {
      const demand = this.#pool.queue.find(id)?.demand;
      if (demand === undefined) throw new Error(`${id} does not wait`);
      this.#pool.queue.remove(id);
      for (const { agent, slots } of shares) this.#pool.agents.hold(agent, id, slots);
      this.#pool.start(demand, { atMs: this.#nowMs, startedAtMs: this.#nowMs });
      this.#running.push(id);
      this.#places.set(id, shares);
    }
    for (const { id } of stops) {
      this.#running.splice(this.#running.indexOf(id), 1);
      this.#end(id);
    }
    return grants.length;
  }

  #end(id: string): void {
    for (const { agent } of this.#places.get(id) ?? []) this.#pool.agents.release(agent, id);
    this.#places.delete(id);
    this.#pool.end(id);
  }

  #refill(): void {
    while (this.#pool.queue.size < this.#waiting) {
      this.#pool.queue.add(demandOf(this.#queued, this.#random, this.#nowMs));
      this.#queued += 1;
    }
  }
}
