/** Trainyard's searchers on a problem, through the configuration's parser and the real simulator or decider. */
import type { JsonObject, NormalisedConfig } from "@trainyard/experiment-config";
import { parseExperiment } from "@trainyard/experiment-config";
import { isRejection } from "@trainyard/kernel";
import { TrialOutcome } from "@trainyard/contracts/events";
import {
  incumbents,
  type SearchCommand,
  SearchMachine,
  simulate,
  suggestionOf,
} from "@trainyard/search";
import type { Problem } from "./problems.ts";

/** The configuration of a searcher with only its name and size, because the defaults are measured. */
export function configFor(
  problem: Problem,
  name: string,
  trials: number,
  more: JsonObject = {},
): NormalisedConfig {
  const document = {
    entrypoint: "true",
    hyperparameters: problem.space,
    checkpoint_storage: { type: "directory", container_path: "/checkpoints" },
    searcher: {
      name,
      metric: "loss",
      smaller_is_better: true,
      max_trials: trials,
      max_concurrent_trials: 1,
      ...more,
    },
  };
  const parsed = parseExperiment(JSON.stringify(document));
  if (isRejection(parsed)) throw new Error(parsed.detail);
  return parsed.config;
}

/** Returns the best value after each trial of a sequential search. */
export function ourIncumbents(
  problem: Problem,
  name: string,
  seed: number,
  trials: number,
  more?: JsonObject,
): number[] {
  const config = configFor(problem, name, trials, more);
  const { ended } = simulate(config, seed, 1, (point) => ({
    value: problem.valueAt(point),
    duration: 1,
  }));
  return incumbents(ended, true).map((best) => best ?? Number.NaN);
}

/** A search that proposes one trial at a time and receives its value, like Optuna's study, with the decider alone. */
export class OurStudy {
  readonly #search = new SearchMachine();
  #trial = 0;
  point: JsonObject = {};

  constructor(config: NormalisedConfig, seed: number) {
    this.#send({ type: "StartSearch", config, seed });
  }

  /** Ends the running trial with its value, and proposes the next one. */
  tell(value: number): void {
    const trial = this.#trial;
    const run = { run: 1, currentRun: 1, step: 1, measurement: `m-${trial}` };
    this.#send({ type: "RecordValidation", trial, scalars: { loss: value }, ...run });
    this.#send({ type: "RecordOutcome", trial, outcome: TrialOutcome.COMPLETED });
  }

  #send(command: SearchCommand): void {
    const events = this.#search.take(command);
    if (isRejection(events)) throw new Error(events.detail);
    this.#search.keep();
    for (const event of events) {
      if (event.type !== "TrialProposed") continue;
      this.#trial = event.data.number;
      this.point = event.data.hyperparameters ?? {};
    }
    // The model answers at once, so that its time is part of the suggestion's time.
    const offer = suggestionOf(this.#search.state);
    if (offer !== null) this.#send(offer);
  }
}
