/** Our searchers on a problem, through the configuration's parser and the product's own simulator or decider. */
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

/** The configuration of a searcher with nothing but its name and size said: the defaults are what is measured. */
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

/** The best value after each trial of a sequential search. */
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

/**
 * A search that proposes and gets the value of one trial at a time, as Optuna's study is, through the decider alone.
 */
export class OurStudy {
  readonly #search = new SearchMachine();
  #trial = 0;
  point: JsonObject = {};

  constructor(config: NormalisedConfig, seed: number) {
    this.#send({ type: "StartSearch", config, seed });
  }

  /** The end of the running trial with its value, and the proposal of the next. */
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
    // A model that is asked beside the log is asked at once: what it takes is part of a suggestion.
    const offer = suggestionOf(this.#search.state);
    if (offer !== null) this.#send(offer);
  }
}
