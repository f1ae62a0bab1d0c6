/** The read model's fold of runs that join a long queue, beside those that join a short one. */
import type { AnyEvent } from "@trainyard/contracts";
import { createPostgresLog, type EventLog } from "@trainyard/event-log";
import { startTestPostgres } from "@trainyard/testing";
import { type BenchContext, type BenchResult, rateResult } from "../support/bench.ts";
import {
  createGatewayDatabase,
  openGateway,
  type OpenGateway,
  untilFolded,
} from "../support/gateway.ts";
import { appendNew } from "./experiments.ts";

export const queuedBar = {
  id: "fold_queued_runs_flatness_1k_100k",
  unit: "events/s",
  floor: null,
  goal: 0.7,
};

const database = "bench";
const perCommit = 250;

export async function queuedRuns(context: BenchContext): Promise<BenchResult> {
  const [few, many] = context.size === "tiny" ? [250, 1_000] : [1_000, 100_000];
  const measured = context.size === "tiny" ? 250 : 20_000;
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await startTestPostgres({ fsync: true }));
  const url = await createGatewayDatabase(postgres, database);
  const log = stack.use(createPostgresLog({ connectionString: url }));
  const gateway = await openGateway(stack, postgres, database);
  const queue = new Queue(log, gateway);
  await queue.grow(few);
  const ofFew = await queue.eventsPerSecond(measured);
  await queue.grow(many);
  const ofMany = await queue.eventsPerSecond(measured);
  const note = `${measured} runs more, until the job's answer has them, in a queue of ${many} runs beside one of ${few}`;
  return rateResult(queuedBar, ofMany, ofFew, note);
}

/** The queue of a job, which only grows. */
class Queue {
  readonly #log: EventLog;
  readonly #gateway: OpenGateway;
  #runs = 0;

  constructor(log: EventLog, gateway: OpenGateway) {
    this.#log = log;
    this.#gateway = gateway;
  }

  /** Queues runs until there are `runs`, and waits until they are folded. */
  async grow(runs: number): Promise<void> {
    while (this.#runs < runs) {
      const writes = Array.from({ length: perCommit }, () => {
        this.#runs += 1;
        const stream = `allocation-1.${this.#runs}#1`;
        return { stream, events: [queued(this.#runs)] };
      });
      await appendNew(this.#log, writes);
    }
    await untilFolded(async () => {
      const { items } = await this.#gateway.client.call("listJobs", {});
      return items[0]?.runsWaiting === this.#runs;
    });
  }

  async eventsPerSecond(more: number): Promise<number> {
    const start = performance.now();
    await this.grow(this.#runs + more);
    return more / ((performance.now() - start) / 1_000);
  }
}

const queued = (trial: number): AnyEvent => ({
  type: "AllocationQueued",
  data: {
    task: `1.${trial}`,
    run: 1,
    job: "1",
    resources: { pool: "default", slots: 1, priority: 42, weight: 1 },
    workspace: "research",
    owner: "user",
  } as never,
});
