/** The work beside the reactions: preparing suggestions of models, and watching budgets of time. */
import type { EventLog, StoredEvent } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import type { EffectLoop, Executor, Logger } from "@trainyard/runtime";
import type { Telemetry } from "../telemetry.ts";
import { Budgets } from "./budgets.ts";
import type { SuggestingModel } from "./model/model.ts";
import { SideLoopSearches } from "./side-loop-searches.ts";
import { Suggestions } from "./suggestions.ts";

type SideLoopsDeps = {
  readonly log: EventLog;
  readonly executor: Executor;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  readonly model: SuggestingModel;
};

export class SideLoops {
  readonly #searches: SideLoopSearches;
  readonly #budgets: Budgets;
  readonly #suggestions: Suggestions;

  private constructor(deps: SideLoopsDeps, searches: SideLoopSearches) {
    this.#searches = searches;
    this.#budgets = new Budgets(deps, searches.ids);
    this.#suggestions = new Suggestions({ ...deps, searches });
  }

  /** Reads from the log which searches need a side loop. */
  static async open(deps: SideLoopsDeps): Promise<SideLoops> {
    return new SideLoops(deps, await SideLoopSearches.open(deps.log, deps.logger));
  }

  /** Notes an event of the log. */
  observe(event: StoredEvent): void {
    this.#searches.observe(event);
    this.#searches.saveWhenDue();
    this.#suggestions.observe(event);
    this.#budgets.observe(event);
  }

  get loops(): readonly EffectLoop[] {
    return [this.#suggestions.loop, this.#budgets.loop];
  }
}
