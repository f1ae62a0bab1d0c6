/** Properties of the order of the queue, over random workloads whose runs end, are repeated, and whose jobs move. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Demand } from "./demand.ts";
import { fitsIn, freeOf } from "./testing/plain-model.ts";
import { ToyCluster } from "./testing/toy-cluster.ts";

const agents = fc
  .array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 })
  .map((sizes) => Object.fromEntries(sizes.map((size, n) => [`a${n}`, size])));

const job = fc.constantFrom("w", "x", "y", "z");
const slots = fc.integer({ min: 1, max: 4 });

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("queue" as const), job, slots }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("repeat" as const), nth: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("end" as const), nth: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("move" as const), job, behind: job }) },
  { weight: 4, arbitrary: fc.constant({ kind: "pass" as const }) },
);

/** The order of the jobs as people expect it: that of their first runs, until a job is moved behind another. */
class Expected {
  readonly toy: ToyCluster;
  readonly jobs: string[] = [];
  readonly #demands = new Map<string, Demand>();
  readonly #sizes: Readonly<Record<string, number>>;

  constructor(sizes: Readonly<Record<string, number>>) {
    this.#sizes = sizes;
    this.toy = new ToyCluster({ backfill: "none" }, sizes);
  }

  take(one: typeof step extends fc.Arbitrary<infer Step> ? Step : never): void {
    const running = [...this.toy.running.keys()];
    switch (one.kind) {
      case "queue":
        return this.#queue(one.job, one.slots);
      case "move":
        return this.#move(one.job, one.behind);
      case "pass":
        return this.#pass();
      default: {
        const run = this.#demands.get(running[one.nth % (running.length || 1)] ?? "");
        if (run === undefined) return;
        this.toy.end(run.id);
        if (one.kind === "repeat") this.#queue(run.job, run.slots);
      }
    }
  }

  #queue(of: string, count: number): void {
    if (!this.jobs.includes(of)) this.jobs.push(of);
    const id = `${of}-${this.#demands.size}`;
    this.#demands.set(id, this.toy.queue(id, count, { job: of, singleAgent: true }));
  }

  #move(moved: string, behind: string): void {
    if (moved === behind || !this.jobs.includes(moved) || !this.jobs.includes(behind)) return;
    this.jobs.splice(this.jobs.indexOf(moved), 1);
    const at = this.jobs.indexOf(behind) + 1;
    const placeOf = (one: string): number => {
      const { first = 0, place = first } = this.toy.pool.jobs.get(one) ?? {};
      return place;
    };
    const next = this.jobs[at];
    const to = next === undefined ? placeOf(behind) + 1 : placeOf(next);
    this.jobs.splice(at, 0, moved);
    this.toy.pool.updateJob(moved, { place: (placeOf(behind) + to) / 2 });
  }

  #pass(): void {
    const { grants } = this.toy.pass();
    const waiting = [...this.#demands.values()].filter(({ id }) => this.toy.pool.queue.has(id));
    const orderOf = (demand: Demand | undefined): number => this.jobs.indexOf(demand?.job ?? "");
    for (const { id } of grants) {
      const free = freeOf(this.toy, this.#sizes, new Set([id]));
      for (const ahead of waiting) {
        if (orderOf(ahead) >= orderOf(this.#demands.get(id))) continue;
        expect(fitsIn(free, ahead), `${ahead.id} is ahead of ${id} and fits`).toBe(false);
      }
    }
  }
}

test("no run is placed before a fitting run of a job ahead, whichever runs were repeated and jobs moved", () => {
  fc.assert(
    fc.property(agents, fc.array(step, { maxLength: 40 }), (sizes, steps) => {
      const expected = new Expected(sizes);
      for (const one of steps) expected.take(one);
      expected.take({ kind: "pass" });
    }),
    { numRuns: 300 },
  );
});
