/**
 * Runs a search in virtual time with the real decider: `workers` trials train at a time, step by step, and report after
 * each step. A suspended trial frees its worker at once; when it is resumed, it continues at its next step, so that no
 * step is trained twice. Stops take effect at once, and trials that can continue wait in a queue. The same search, seed
 * and world have the same history, since no real clock is involved.
 */
import { TrialOutcome } from "@trainyard/contracts/events";
import type { EventData } from "@trainyard/contracts";
import type { JsonObject, NormalisedConfig } from "@trainyard/experiment-config";
import { assert, isRejection } from "@trainyard/kernel";
import type { SearchCommand } from "../commands.ts";
import { SearchMachine } from "../machine.ts";
import type { SearchEvent } from "../events.ts";
import type { SearchState } from "../state.ts";
import { suggestionOf } from "../suggestions.ts";

/** The planned training of a trial. */
export type Training = {
  /** The hyperparameters that replace the proposed ones, if the world only knows certain points. */
  readonly hyperparameters: JsonObject;
  /** The number of steps until the trial completes, at least one. */
  readonly steps: number;
  /** The duration of a step, > 0, in the world's units. */
  readonly stepTime: number;
  /**
   * The metric after a step, from 1. A value that is not finite is reported as such; null means that the training
   * fails.
   */
  readonly valueAt: (step: number) => number | null;
};

export type World = (proposal: EventData<"TrialProposed">) => Training;

/** A trained step; steps are listed in the order of time. */
export type TrainedStep = {
  readonly trial: number;
  readonly step: number;
  readonly value: number | null;
  readonly at: number;
};

export type SimulatedRun = {
  readonly events: readonly SearchEvent[];
  readonly state: SearchState;
  readonly steps: readonly TrainedStep[];
  /** The trials in the order in which they completed, failed or were stopped. */
  readonly ended: readonly { readonly trial: number; readonly at: number }[];
  /** The trials in training, or waiting for a worker, when the limit of steps was reached. */
  readonly training: readonly number[];
};

export type RunSettings = {
  readonly config: NormalisedConfig;
  readonly seed: number;
  readonly workers: number;
  readonly world: World;
  /** The most steps of all trials together; without it the search runs to its end. */
  readonly stepsMax?: number;
};

export function runSearch(settings: RunSettings): SimulatedRun {
  assert(settings.workers >= 1, "there is a worker");
  const run = new Run(settings);
  run.toTheEnd(settings.stepsMax ?? Number.POSITIVE_INFINITY);
  return run;
}

type Trainee = {
  readonly trial: number;
  readonly training: Training;
  stepsDone: number;
  place: "ready" | "training" | "suspended" | "ended";
  nextAt: number;
};

class Run implements SimulatedRun {
  readonly #search = new SearchMachine();
  readonly events: SearchEvent[] = [];
  readonly steps: TrainedStep[] = [];
  readonly ended: { readonly trial: number; readonly at: number }[] = [];
  readonly #settings: RunSettings;
  readonly #scalarsAt: (step: number, value: number) => Record<string, number>;
  /** The trainees by trial: trial n at index n - 1. */
  readonly #trainees: Trainee[] = [];
  #ready: Trainee[] = [];
  #training: Trainee[] = [];
  #now = 0;

  get state(): SearchState {
    return this.#search.state;
  }

  get training(): readonly number[] {
    return [...this.#training, ...this.#ready].map(({ trial }) => trial);
  }

  constructor(settings: RunSettings) {
    this.#settings = settings;
    const { metric, time_metric: timeMetric = "" } = settings.config.searcher;
    this.#scalarsAt = (step, value) =>
      timeMetric === "" ? { [metric]: value } : { [timeMetric]: step, [metric]: value };
  }

  toTheEnd(stepsMax: number): void {
    const { config, seed } = this.#settings;
    this.#send({ type: "StartSearch", config, seed });
    while (this.steps.length < stepsMax) {
      this.#giveWork();
      const next = firstOf(this.#training);
      if (next === undefined) return;
      this.#now = next.nextAt;
      this.#step(next);
    }
  }

  #giveWork(): void {
    while (this.#training.length < this.#settings.workers) {
      const next = this.#ready.shift();
      if (next === undefined) return;
      next.place = "training";
      next.nextAt = this.#now + next.training.stepTime;
      this.#training.push(next);
    }
  }

  #step(trainee: Trainee): void {
    const { trial, training } = trainee;
    trainee.stepsDone += 1;
    trainee.nextAt = this.#now + training.stepTime;
    const step = trainee.stepsDone;
    const value = training.valueAt(step);
    this.steps.push({ trial, step, value, at: this.#now });
    if (value === null) {
      this.#end(trainee, TrialOutcome.FAILED);
      return;
    }
    const scalars = this.#scalarsAt(step, value);
    const measurement = `simulated-${trial}-${step}`;
    const report = { trial, run: 1, currentRun: 1, step, scalars, measurement } as const;
    this.#send({ type: "RecordValidation", ...report });
    if (step >= training.steps) this.#end(trainee, TrialOutcome.COMPLETED);
  }

  #end(trainee: Trainee, outcome: TrialOutcome): void {
    if (trainee.place === "ended") return;
    this.#leave(trainee, "ended");
    this.ended.push({ trial: trainee.trial, at: this.#now });
    this.#send({ type: "RecordOutcome", trial: trainee.trial, outcome });
  }

  #leave(trainee: Trainee, place: "suspended" | "ended"): void {
    this.#training = this.#training.filter((other) => other !== trainee);
    this.#ready = this.#ready.filter((other) => other !== trainee);
    trainee.place = place;
  }

  #send(command: SearchCommand): void {
    const decided = this.#search.decide(command);
    assert(!isRejection(decided), "a simulated search accepts its reports");
    const events = decided.map((event) => this.#placed(event));
    for (const event of events) this.#search.apply(event);
    this.#search.keep();
    for (const event of events) this.events.push(event);
    for (const event of events) this.#hear(event);
    // The model answers without virtual time passing.
    const offer = suggestionOf(this.state);
    if (offer !== null) this.#send(offer);
  }

  /** Gives a proposal the hyperparameters that the world has for it. */
  #placed(event: SearchEvent): SearchEvent {
    if (event.type !== "TrialProposed") return event;
    const training = this.#settings.world(event.data);
    const trial = event.data.number;
    this.#trainees.push({ trial, training, stepsDone: 0, place: "ready", nextAt: 0 });
    return { ...event, data: { ...event.data, hyperparameters: training.hyperparameters } };
  }

  #hear(event: SearchEvent): void {
    switch (event.type) {
      case "TrialProposed":
        this.#ready.push(this.#trainee(event.data.number));
        break;
      case "TrialSuspended":
        this.#leave(this.#trainee(event.data.trial), "suspended");
        break;
      case "TrialResumed":
        this.#resume(this.#trainee(event.data.trial));
        break;
      case "TrialStopDecided":
        this.#end(this.#trainee(event.data.trial), TrialOutcome.STOPPED_EARLY);
        break;
      default:
    }
  }

  #resume(trainee: Trainee): void {
    if (trainee.place !== "suspended") return;
    trainee.place = "ready";
    this.#ready.push(trainee);
  }

  #trainee(trial: number): Trainee {
    const trainee = this.#trainees[trial - 1];
    assert(trainee !== undefined, `trial ${trial} was proposed`);
    return trainee;
  }
}

/** Returns the trial with the next time; of several, the one that was proposed first. */
function firstOf(training: readonly Trainee[]): Trainee | undefined {
  let first: Trainee | undefined;
  for (const other of training) {
    const { nextAt, trial } = other;
    if (first === undefined || nextAt < first.nextAt) first = other;
    else if (nextAt === first.nextAt && trial < first.trial) first = other;
  }
  return first;
}
