/** Builders of searches for the tests. */
import type { EventData } from "@trainyard/contracts";
import type { TrialOutcome } from "@trainyard/contracts/events";
import type { NormalisedConfig, SearcherConfig } from "@trainyard/experiment-config";
import { recordedConfig } from "@trainyard/experiment-config/recorded";
import { isRejection } from "@trainyard/kernel";
import type { RecordValidation, SearchCommand } from "../commands.ts";
import { SearchMachine } from "../machine.ts";
import type { SearchEvent } from "../events.ts";
import type { SearchState } from "../state.ts";
import { suggestionOf } from "../suggestions.ts";

export const spaceOfTwo: NormalisedConfig["hyperparameters"] = {
  lr: { type: "log", minval: -4, maxval: -1, base: 10, count: null },
  units: { type: "int", minval: 4, maxval: 64, count: null },
};

export function configOf(
  searcher: SearcherConfig,
  hyperparameters: NormalisedConfig["hyperparameters"] = spaceOfTwo,
  early_stopping: NormalisedConfig["early_stopping"] = [],
): NormalisedConfig {
  const defaulted = recordedConfig({
    entrypoint: "true",
    log_policies: [],
    resources: { priority: 42 },
    max_restarts: 0,
    checkpoint_storage: { type: "directory", container_path: "/c" },
  });
  return { ...defaulted, hyperparameters, searcher, early_stopping };
}

export const randomOf = (max_trials: number, max_concurrent_trials: number): SearcherConfig => ({
  name: "random",
  metric: "loss",
  smaller_is_better: true,
  max_trials,
  max_concurrent_trials,
});

export const singleOf: SearcherConfig = {
  name: "single",
  metric: "loss",
  smaller_is_better: true,
};

export const sobolOf = (max_trials: number, max_concurrent_trials: number): SearcherConfig => ({
  ...randomOf(max_trials, max_concurrent_trials),
  name: "sobol",
  max_trials,
  max_concurrent_trials,
});

export const tpeOf = (
  max_trials: number,
  max_concurrent_trials: number,
  multivariate = true,
): SearcherConfig => ({
  ...randomOf(max_trials, max_concurrent_trials),
  name: "tpe",
  max_trials,
  max_concurrent_trials,
  multivariate,
});

export const gpOf = (max_trials: number, max_concurrent_trials: number): SearcherConfig => ({
  ...randomOf(max_trials, max_concurrent_trials),
  name: "gp",
  max_trials,
  max_concurrent_trials,
});

export const gridOf = (max_concurrent_trials: number): SearcherConfig => ({
  name: "grid",
  metric: "loss",
  smaller_is_better: true,
  max_concurrent_trials,
});

/** A search driven by commands, with its events and their fold. */
export class DrivenSearch {
  machine = new SearchMachine();
  readonly events: SearchEvent[] = [];
  /** While true, the model answers no question. */
  modelIsAway = false;

  get state(): SearchState {
    return this.machine.state;
  }

  /** Continues from a snapshot of itself, like a restarted process. */
  restore(): void {
    const restored = SearchMachine.restored(this.machine.snapshot());
    if (restored === null) throw new Error("the snapshot cannot be read");
    this.machine = restored;
  }

  /** Sends a command, and the model's suggestions after it; returns the events. Throws on a rejection. */
  send(command: SearchCommand): readonly SearchEvent[] {
    const events = [...this.#decide(command)];
    for (let offer = this.#offer(); offer !== null; offer = this.#offer()) {
      events.push(...this.#decide(offer));
    }
    return events;
  }

  #offer(): SearchCommand | null {
    return this.modelIsAway ? null : suggestionOf(this.state);
  }

  #decide(command: SearchCommand): readonly SearchEvent[] {
    const decided = this.machine.take(command);
    if (isRejection(decided)) throw new Error(decided.detail);
    this.machine.keep();
    this.events.push(...decided);
    return decided;
  }

  start(config: NormalisedConfig, seed = 1): readonly SearchEvent[] {
    return this.send({ type: "StartSearch", config, seed });
  }

  end(trial: number, outcome: TrialOutcome): readonly SearchEvent[] {
    return this.send({ type: "RecordOutcome", trial, outcome });
  }

  validate(trial: number, step: number, loss: number): readonly SearchEvent[] {
    return this.send(validation(trial, step, { loss }));
  }

  proposals(): EventData<"TrialProposed">[] {
    return proposalsOf(this.events);
  }

  completion(): EventData<"SearchCompleted"> | undefined {
    return this.events.find((event) => event.type === "SearchCompleted")?.data;
  }
}

export function validation(
  trial: number,
  step: number,
  scalars: Readonly<Record<string, number>>,
  more: Partial<RecordValidation> = {},
): RecordValidation {
  const measurement = `m-${trial}-${step}`;
  return {
    type: "RecordValidation",
    trial,
    run: 1,
    currentRun: 1,
    step,
    scalars,
    measurement,
    ...more,
  };
}

export function proposalsOf(events: readonly SearchEvent[]): EventData<"TrialProposed">[] {
  return events.flatMap((event) => (event.type === "TrialProposed" ? [event.data] : []));
}
