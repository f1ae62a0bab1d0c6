/** A search of the product that a case drives with commands, as the searcher service does. */
import {
  isSearcherName,
  type JsonObject,
  type NormalisedConfig,
  parseExperiment,
} from "@trainyard/experiment-config";
import { isRejection } from "@trainyard/kernel";
import { TrialOutcome } from "@trainyard/contracts/events";
import {
  type SearchCommand,
  type SearchEvent,
  type SearchState,
  SearchMachine,
} from "@trainyard/search";

import { NotRun } from "./expressible.ts";

export const METRIC = "loss";

/** The configuration with the searcher of a case; omitted values get the product's defaults. */
export function configOf(searcher: JsonObject, hyperparameters: unknown = {}): NormalisedConfig {
  const { name } = searcher;
  if (!isSearcherName(name)) throw new NotRun(`the product has no searcher ${String(name)}`);
  const parsed = parseExperiment(
    JSON.stringify({
      entrypoint: "true",
      searcher: { metric: METRIC, ...searcher },
      checkpoint_storage: { type: "directory", container_path: "/" },
      hyperparameters,
    }),
  );
  if (isRejection(parsed)) throw new Error(parsed.detail);
  return parsed.config;
}

export class CaseSearch {
  readonly #search = new SearchMachine();
  readonly config: NormalisedConfig;
  readonly proposals: { readonly number: number; readonly hyperparameters: JsonObject }[] = [];
  #reports = 0;

  constructor(config: NormalisedConfig, seed = 0) {
    this.config = config;
    this.first = this.send({ type: "StartSearch", config, seed });
  }

  /** The effects of the start. */
  readonly first: readonly SearchEvent[];

  get state(): SearchState {
    return this.#search.state;
  }

  send(command: SearchCommand): readonly SearchEvent[] {
    const decided = this.#search.decide(command);
    if (isRejection(decided)) throw new Error(decided.detail);
    for (const event of decided) this.apply(event);
    return decided;
  }

  apply(event: SearchEvent): void {
    this.#search.apply(event);
    this.#search.keep();
    if (event.type === "TrialProposed") {
      const { number, hyperparameters } = event.data;
      this.proposals.push({ number, hyperparameters: hyperparameters ?? {} });
    }
  }

  /** Reports a validation at a time, under the names that the configuration gives to both. */
  report(trial: number, time: number, value: number): readonly SearchEvent[] {
    const { searcher } = this.config;
    const timeMetric = "time_metric" in searcher ? searcher.time_metric : "";
    return this.reportScalars(trial, time, {
      [searcher.metric]: value,
      ...(timeMetric === "" ? {} : { [timeMetric]: time }),
    });
  }

  reportScalars(
    trial: number,
    step: number,
    scalars: Readonly<Record<string, number>>,
  ): readonly SearchEvent[] {
    this.#reports += 1;
    const measurement = `report ${this.#reports}`;
    const run = { run: 1, currentRun: 1 };
    return this.send({ type: "RecordValidation", trial, ...run, step, scalars, measurement });
  }

  end(trial: number, outcome: TrialOutcome = TrialOutcome.COMPLETED): readonly SearchEvent[] {
    return this.send({ type: "RecordOutcome", trial, outcome });
  }
}
