/**
 * A training is killed after step 537 and continues from its checkpoint at step 400 (abandoned.py). Its curve has each
 * step once, by the last run that did it; later steps of the killed run are shown on demand only; and sending its
 * reports again changes nothing.
 */
import type { Plain } from "@trainyard/contracts";
import type { Trial } from "@trainyard/contracts/api";
import type { World } from "../world/world.ts";
import { destinationOf, type Stored, storedPoints, untilAllHeard, violationsOf } from "./stored.ts";
import type { Subscriber } from "./subscribers.ts";

const [stored, killed, last] = [400, 537, 600];

const config = `
name: restarted
entrypoint: python3 train.py
searcher: { name: single, metric: loss }
max_restarts: 5
`;

export class RestartedTrial {
  readonly experiment: string;
  readonly #world: World;
  readonly #trial: string;

  private constructor(world: World, experiment: string) {
    this.#world = world;
    this.experiment = experiment;
    this.#trial = `${experiment}.1`;
  }

  static async start(world: World): Promise<RestartedTrial> {
    return new RestartedTrial(world, await world.submit(config, world.code("abandoned")));
  }

  /** Waits for the trial's end; `restarts` is the number of PostgreSQL's restarts. */
  async violations(
    subscribers: readonly Subscriber[],
    restarts: number,
  ): Promise<readonly string[]> {
    const { client } = this.#world;
    await this.#world.untilTrials(this.experiment, ([trial]) => trial?.state === "COMPLETED");
    const trial = await client.call("getTrial", { trial: this.#trial }, { outlast: true });
    const expected = counted(trial.runs);
    const before = await this.#listed();
    const replayed = await this.#replay(before.all);
    const after = await this.#listed();
    await untilAllHeard(subscribers, after.all.length).catch(() => {});
    const found = before.counting.map(nameOf).toSorted();
    return [
      ...replayed,
      ...(JSON.stringify(found) === JSON.stringify(expected.toSorted())
        ? []
        : [`the curve of ${this.#trial} is not that of its last runs: ${found.length} points`]),
      ...(JSON.stringify(before) === JSON.stringify(after)
        ? []
        : [`reports that were sent again changed the points of ${this.#trial}`]),
      ...subscribers.flatMap((subscriber) => violationsOf(subscriber, after.all, restarts)),
    ];
  }

  async #listed() {
    const trials = [this.#trial];
    return {
      all: await storedPoints(this.#world, trials),
      counting: await storedPoints(this.#world, trials, false),
    };
  }

  /** Sends the first run's spool again. */
  async #replay(points: readonly Stored[]): Promise<readonly string[]> {
    const { http, run, token } = await destinationOf(this.#world, `${this.#trial}#1`);
    const reports = points
      .filter((point) => point.run === 1)
      .map(({ key, group, stepsCompleted, reportedAtMs: atMs, metrics }) => {
        return { key, group, stepsCompleted, atMs, metrics };
      });
    const response = await fetch(`${http}/api/v1/runs/${encodeURIComponent(run)}/reports`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ reports }),
    });
    const text = await response.text();
    return [200, 409].includes(response.status) ? [] : [`sent again: ${response.status} ${text}`];
  }
}

/** The points that count, derived from the checkpoints that the runs started from. */
function counted(runs: Plain<Trial>["runs"]): readonly string[] {
  const steps = new Map<number, number>();
  for (const { number, fromCheckpoint } of runs) {
    const first = fromCheckpoint === "" ? 1 : stored + 1;
    for (const step of [...steps.keys()]) if (step >= first) steps.delete(step);
    for (let step = first; step <= (fromCheckpoint === "" ? killed : last); step += 1) {
      steps.set(step, number);
    }
  }
  const training = [...steps].map(([step, run]) => `training ${step} of run ${run}`);
  return [...training, `validation ${last} of run ${runs.at(-1)?.number}`];
}

const nameOf = ({ group, stepsCompleted, run }: Stored): string =>
  `${group} ${stepsCompleted} of run ${run}`;
