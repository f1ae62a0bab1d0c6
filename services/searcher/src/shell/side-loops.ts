/** The work beside the reactions: preparing suggestions of models, and watching budgets of time. */
import type { StoredEvent } from "@trainyard/event-log";
import { type DueDeps, type DueLoop, LogFold } from "@trainyard/runtime";
import type { Telemetry } from "../telemetry.ts";
import { Budgets } from "./budgets.ts";
import type { SuggestingModel } from "./model/model.ts";
import { sideLoopSearches } from "./side-loop-searches.ts";
import { Suggestions } from "./suggestions.ts";

export type SideLoopsDeps = DueDeps & {
  readonly telemetry: Pick<Telemetry, "suggestionTook">;
  readonly model: SuggestingModel;
};

export class SideLoops {
  readonly #searches: LogFold<number>;
  readonly #loops: readonly [Suggestions, Budgets];

  private constructor(deps: SideLoopsDeps, searches: LogFold<number>) {
    this.#searches = searches;
    this.#loops = [new Suggestions(deps, searches), new Budgets(deps, searches)];
  }

  /** Reads from the log which searches need a side loop. */
  static async open(deps: SideLoopsDeps): Promise<SideLoops> {
    return new SideLoops(deps, await LogFold.open(deps, sideLoopSearches));
  }

  /** Notes an event of the log. */
  observe(event: StoredEvent): void {
    this.#searches.observe(event);
    for (const loop of this.#loops) loop.observe(event);
  }

  get loops(): readonly DueLoop[] {
    return this.#loops.map(({ loop }) => loop);
  }

  /** Saves the list of the searches. */
  save(): Promise<void> {
    return this.#searches.save();
  }
}
