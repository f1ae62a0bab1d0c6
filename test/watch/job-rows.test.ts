import type { AnyEvent } from "@trainyard/contracts";
import { AllocationEndCause, ExperimentOutcome } from "@trainyard/contracts/events";
import { idOf } from "@trainyard/kernel";
import { foldedJobs, type StreamedEvent } from "@trainyard/service-gateway/folded-jobs";
import { Cluster, jobsOf } from "@trainyard/service-scheduler/testing";
import { expect, test } from "vitest";
import { Chance } from "../sim/chance.ts";

const origin = { workspace: "", correlationid: "", authid: "", traceparent: "" };

type Step = {
  readonly kind:
    | "queue"
    | "grant"
    | "end"
    | "update"
    | "move"
    | "endExperiment"
    | "deleteExperiment"
    | "removePool";
  readonly job: number;
  readonly chance: number;
};

/** A random history that a scheduler could have written, of three experiments in two pools. */
class History {
  readonly events: StreamedEvent[] = [];
  readonly #runs = new Map<
    string,
    { readonly job: string; readonly pool: string; placed: boolean }
  >();
  #next = 1;

  take({ kind, job: number, chance }: Step): void {
    const job = String(number);
    const pool = number === 3 ? "other" : "default";
    const own = [...this.#runs].filter(([, run]) => run.job === job);
    const [id, run] = own[Math.floor(chance * own.length)] ?? [];
    switch (kind) {
      case "queue":
        return this.#queue(job, pool);
      case "grant":
        if (id === undefined || run?.placed !== false) return;
        run.placed = true;
        return this.#add(`allocation-${id}`, {
          type: "AllocationGranted",
          data: {
            placements: [{ agent: "a", slots: ["0", "1"], nodeRank: 0, address: "h" }],
            ...{ masterAddress: "h", masterPort: 1, tokenKey: "k", folded: 0 },
            ...(chance < 0.5 ? { borrowed: 1 } : {}),
          },
        });
      case "end":
        if (id === undefined) return;
        this.#runs.delete(id);
        return this.#add(`allocation-${id}`, {
          type: "AllocationEnded",
          data: { cause: AllocationEndCause.EXITED, exits: [], message: "" },
        });
      case "update":
        return this.#add(`pool-${pool}`, { type: "JobUpdated", data: { job, ...changed(chance) } });
      case "move": {
        const place = 20 * chance - 5;
        const data = { job, place, anchor: "9", ahead: true };
        return this.#add(`pool-${pool}`, { type: "JobMoved", data });
      }
      case "endExperiment":
        // An experiment ends after its last run.
        if (own.length > 0) return;
        return this.#add(`experiment-${job}`, {
          type: "ExperimentEnded",
          data: { outcome: ExperimentOutcome.COMPLETED, reason: "" },
        });
      case "deleteExperiment":
        if (own.length > 0) return;
        return this.#add(`experiment-${job}`, { type: "ExperimentDeleted", data: {} });
      case "removePool":
        // Only a pool without runs is removed.
        if ([...this.#runs.values()].some((one) => one.pool === pool)) return;
        return this.#add(`pool-${pool}`, { type: "PoolRemoved", data: {} });
    }
  }

  #queue(job: string, pool: string): void {
    const run = this.#next;
    this.#next += 1;
    const id = `${job}.${run}#1`;
    this.#runs.set(id, { job, pool, placed: false });
    const resources = { pool, slots: run % 3, priority: 42, weight: 1, singleAgent: false };
    // The limit is of the experiment's configuration, so its runs share it.
    const limit = job === "2" ? {} : { maxSlots: 4 };
    this.#add(`allocation-${id}`, {
      type: "AllocationQueued",
      data: {
        ...{ task: `${job}.${run}`, run: 1, job, preemptible: true, delayMs: 0 },
        ...{ workspace: "lab", owner: "ada", resources: { ...resources, ...limit } },
      },
    });
  }

  #add(stream: string, event: AnyEvent): void {
    this.events.push({ stream, event });
  }
}

function changed(chance: number) {
  if (chance < 0.4) return { priority: 40 + Math.floor(10 * chance) };
  if (chance < 0.7) return { weight: 10 * chance };
  return { maxSlots: chance < 0.85 ? 0 : 7 };
}

function scheduled(events: readonly StreamedEvent[]) {
  const cluster = new Cluster();
  for (const [index, { stream, event }] of events.entries()) {
    cluster.apply({
      position: index + 1,
      timeMs: 1_000,
      eventId: "e",
      origin,
      id: idOf(stream),
      event,
    });
  }
  return jobsOf(cluster, "");
}

const kinds = [
  ...(["queue", "queue", "queue", "grant", "end", "end"] as const),
  ...(["update", "move", "endExperiment", "deleteExperiment", "removePool"] as const),
] as const;

const seeds = 300;
const steps = 40;

test("the gateway's rows of jobs equal the scheduler's answer, in the same order, after any history", () => {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const chance = new Chance(seed, "jobs");
    const history = new History();
    for (let step = 0; step < steps; step += 1) {
      const job = chance.between(1, 3);
      history.take({ kind: chance.pick(kinds), job, chance: chance.between(0, 999) / 1_000 });
    }
    expect(foldedJobs(history.events), `seed ${seed}`).toEqual(scheduled(history.events));
  }
});
