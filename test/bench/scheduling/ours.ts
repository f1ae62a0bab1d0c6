import { type Demand, place, Pool, type Share } from "@trainyard/scheduling";
import { allRules, next, randomOf, runsFor, slotsPerAgent } from "./workload.ts";

type Running = { readonly demand: Demand; readonly shares: readonly Share[]; at: number };

/** The pool and its fold, whose grants and stops take effect at once. */
export class OurPool {
  readonly pool: Pool;
  readonly #running: string[] = [];
  readonly #runs = new Map<string, Running>();
  readonly #random = randomOf(7);
  #queued = 0;
  #turns = 0;
  #nowMs = 0;

  constructor(agents: number, waiting: number) {
    this.pool = new Pool(allRules(agents));
    const slots = Array.from({ length: slotsPerAgent }, (_, n) => ({
      id: String(n),
      device: "cuda",
      memoryBytes: 80e9,
    }));
    for (let n = 0; n < agents; n += 1) this.pool.agents.join(`a${n}`, { slots, labels: {} }, true);
    for (const demand of runsFor(agents, waiting, this.#random)) this.#queue(demand);
    while (this.pass(Number.POSITIVE_INFINITY) > 0);
  }

  /** Ends a random run; its experiment queues another one. */
  endOne(): void {
    const at = Math.floor(this.#random() * this.#running.length);
    const id = this.#running[at];
    if (id !== undefined) this.#end(id);
  }

  /** Runs a pass and returns the number of runs that it places. */
  pass(grantsMax?: number): number {
    this.#nowMs += 10;
    const options = grantsMax === undefined ? {} : { grantsMax };
    const { grants, stops } = place(this.pool, { nowMs: this.#nowMs, ...options });
    for (const { id, shares } of grants) {
      const demand = this.pool.queue.find(id)?.demand;
      if (demand === undefined) throw new Error(`${id} does not wait`);
      this.pool.queue.remove(id);
      for (const { agent, slots } of shares) this.pool.agents.hold(agent, id, slots);
      this.#turns += 1;
      const start = { turn: this.#turns, atMs: this.#nowMs, startedAtMs: this.#nowMs };
      this.pool.start(demand, start);
      this.#runs.set(id, { demand, shares, at: this.#running.length });
      this.#running.push(id);
    }
    for (const { id } of stops) this.#end(id);
    return grants.length;
  }

  #end(id: string): void {
    const run = this.#runs.get(id);
    if (run === undefined) return;
    for (const { agent } of run.shares) this.pool.agents.release(agent, id);
    this.#runs.delete(id);
    this.#takeOut(run.at);
    this.pool.end(id);
    this.#queue(next(run.demand, this.#queued, this.#nowMs));
  }

  /** Removes an element by moving the last one into its place. */
  #takeOut(at: number): void {
    const last = this.#running.pop();
    if (last === undefined || at === this.#running.length) return;
    this.#running[at] = last;
    (this.#runs.get(last) as Running).at = at;
  }

  #queue(demand: Demand): void {
    this.pool.queue.add(demand);
    this.#queued += 1;
  }
}
