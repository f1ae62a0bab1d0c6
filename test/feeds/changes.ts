/** Changes of experiments that never run: each is one event or more, made by the public API at a steady rate. */
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@trainyard/client";
import { eventually } from "../world/eventually.ts";

/** Each call waits for its commit, so a rate needs several at a time. */
const makers = 12;

const config = `
name: changed
entrypoint: "true"
hyperparameters: { lr: { type: double, minval: 0, maxval: 1 } }
searcher: { name: random, metric: loss, max_trials: 1 }
`;

export class Changes implements AsyncDisposable {
  made = 0;
  readonly #client: Client;
  readonly #experiments: readonly string[];
  readonly #enough = new AbortController();
  #making: Promise<unknown> = Promise.resolve();

  private constructor(client: Client, experiments: readonly string[]) {
    this.#client = client;
    this.#experiments = experiments;
  }

  static async start(client: Client, perSecond: number): Promise<Changes> {
    const experiments: string[] = [];
    for (let n = 0; n < makers; n += 1) {
      const answer = await client.call("createExperiment", { config, paused: true });
      experiments.push(answer.experiment?.id ?? "");
    }
    const changes = new Changes(client, experiments);
    changes.#making = Promise.all(experiments.map((one) => changes.#make(one, perSecond / makers)));
    return changes;
  }

  async #make(experiment: string, perSecond: number): Promise<void> {
    const { signal } = this.#enough;
    for (let turn = 0; !signal.aborted; turn += 1) {
      const nextMs = performance.now() + 1_000 / perSecond;
      await this.#client
        .call("updateExperiment", { experiment, name: `n${turn}` })
        .then(
          () => (this.made += 1),
          () => delay(1_000, undefined, { signal }), // Away.
        )
        .catch(() => {}); // Enough.
      const restMs = Math.max(0, nextMs - performance.now());
      await delay(restMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Makes one change more, as soon as the platform takes one, and returns the position of its event. */
  async mark(): Promise<number> {
    const [experiment = ""] = this.#experiments;
    let position = 0;
    await eventually("a change is made", async () => {
      const description = `mark ${performance.now()}`;
      const answer = await this.#client.call("updateExperiment", { experiment, description });
      position = Number(answer.position);
      return true;
    });
    return position;
  }

  async stop(): Promise<void> {
    this.#enough.abort();
    await this.#making;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
