/**
 * Simulates a population in virtual time with the real decider: every member trains on its own, and saves a checkpoint
 * after each report. The member that is furthest behind by the clock trains next.
 */
import { TrialOutcome } from "@trainyard/contracts/events";
import type {
  JsonObject,
  NormalisedConfig,
  PbtSearcher,
  SearcherConfig,
} from "@trainyard/experiment-config";
import type { SearchEvent } from "../events.ts";
import { configOf, DrivenSearch } from "./searches.ts";

export const pbtOf = (more: Partial<PbtSearcher> = {}): PbtSearcher => ({
  name: "pbt",
  metric: "loss",
  smaller_is_better: true,
  time_metric: "",
  population_size: 4,
  max_concurrent_trials: 0,
  max_time: 40,
  interval: 4,
  burn_in: 0,
  quantile: 0.25,
  exploit: "truncation",
  resample_probability: 0.25,
  perturb_factors: [0.8, 1.2],
  mutate: [],
  max_trials: 40,
  ...more,
});

/** A simulated training: its initial state, and the effect and report of a step. */
export type Training<State> = {
  readonly initial: State;
  readonly step: (state: State, hyperparameters: JsonObject) => State;
  readonly valueOf: (state: State) => number;
};

type Running<State> = {
  readonly trial: number;
  readonly hyperparameters: JsonObject;
  state: State;
  step: number;
  clock: number;
};

export class TestPopulation<State> {
  readonly search = new DrivenSearch();
  readonly #training: Training<State>;
  /** The number of steps between reports. */
  readonly #every: number;
  readonly #running = new Map<number, Running<State>>();
  readonly #saved = new Map<string, State>();

  constructor(training: Training<State>, every: number) {
    this.#training = training;
    this.#every = every;
  }

  start(searcher: SearcherConfig, space: NormalisedConfig["hyperparameters"], seed: number): void {
    this.#hear(this.search.start(configOf(searcher, space), seed), 0);
  }

  /** Runs until no trial trains. */
  run(): void {
    while (this.next()) {
      // The call trains one member until its next report, so the body is empty.
    }
  }

  /** Trains the member that is furthest behind until its next report; returns false if no member is left. */
  next(): boolean {
    let next: Running<State> | undefined;
    for (const member of this.#running.values()) {
      if (next === undefined || member.clock < next.clock) next = member;
    }
    if (next === undefined) return false;
    for (let n = 0; n < this.#every; n += 1) {
      next.state = this.#training.step(next.state, next.hyperparameters);
    }
    const { trial, state } = next;
    next.step += this.#every;
    next.clock += this.#every;
    const value = this.#training.valueOf(state);
    const events = this.search.validate(trial, next.step, value);
    this.#hear(events, next.clock);
    if (this.#running.has(trial)) this.#save(next);
    return true;
  }

  #save({ trial, step, state }: Running<State>): void {
    const checkpoint = `${trial}@${step}`;
    this.#saved.set(checkpoint, state);
    this.search.send({ type: "RecordCheckpoint", trial, checkpoint, run: 1, step });
  }

  #hear(events: readonly SearchEvent[], clock: number): void {
    for (const event of events) {
      if (event.type === "TrialStopDecided") {
        this.#running.delete(event.data.trial);
        this.#hear(this.search.end(event.data.trial, TrialOutcome.STOPPED_EARLY), clock);
      } else if (event.type === "TrialProposed") {
        const { number: trial, hyperparameters = {}, startFromCheckpoint = "" } = event.data;
        const state = this.#saved.get(startFromCheckpoint) ?? this.#training.initial;
        const step = event.data.startFromStep ?? 0;
        this.#running.set(trial, { trial, hyperparameters, state, step, clock });
      }
    }
  }
}
