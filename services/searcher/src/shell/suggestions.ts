/**
 * Prepares the suggestions of models ahead of need, driven by the state of the searches. When a search has changed, its
 * question (a function of its state) is sent to the model, one at a time per search, and the answer becomes a command.
 * A free place that waits too long is filled without a suggestion. Nothing is stored: after a crash the same state asks
 * the same question, and the wait restarts.
 */
import { newEventId, type StoredEvent } from "@trainyard/event-log";
import { assert, type Clock, categoryOf, idOf, isRejection } from "@trainyard/kernel";
import { EffectLoop, type Executor, type Logger, serviceMeta } from "@trainyard/runtime";
import {
  awaitedTrial,
  type GoWithoutSuggestion,
  type OfferSuggestion,
  type Question,
  questionOf,
} from "@trainyard/search";
import type { Telemetry } from "../telemetry.ts";
import { limits } from "../limits.ts";
import type { SideLoopSearches } from "./side-loop-searches.ts";
import type { SuggestingModel } from "./model/model.ts";
import { searches } from "../streams.ts";

export type SuggestionsDeps = {
  readonly executor: Executor;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly telemetry: Pick<Telemetry, "suggestionTook">;
  readonly model: SuggestingModel;
  readonly searches: SideLoopSearches;
};

type Wait = { readonly trial: number; readonly sinceMs: number };
type Offer = { readonly id: string; readonly offer: OfferSuggestion };

export class Suggestions {
  readonly #deps: SuggestionsDeps;
  readonly loop: EffectLoop;
  /** The searches that may have a new question. */
  readonly #moved: Set<string>;
  /** The searches whose question the model is answering. */
  readonly #asked = new Set<string>();
  /** The answers that are not yet committed. */
  readonly #offers: Offer[] = [];
  /** The free places that wait for a suggestion, by search. */
  readonly #waits = new Map<string, Wait>();

  constructor(deps: SuggestionsDeps) {
    this.#deps = deps;
    this.#moved = new Set(deps.searches.ids);
    this.loop = new EffectLoop("suggestions", deps, () => this.#step());
  }

  /** Notes an event of the log. */
  observe({ stream }: StoredEvent): void {
    if (categoryOf(stream) !== "search") return;
    const id = idOf(stream);
    if (!this.#deps.searches.has(id)) return;
    this.#moved.add(id);
    this.loop.wake();
  }

  /** Returns the milliseconds until a place has waited too long; null if none waits. */
  async #step(): Promise<number | null> {
    for (let next = this.#offers[0]; next !== undefined; next = this.#offers[0]) {
      await this.#send(next.id, next.offer);
      this.#offers.shift();
    }
    // Iterates over a copy: an answer that arrives meanwhile is committed before its search is read again.
    for (const id of [...this.#moved]) {
      // Deleted before the read, because the search may change again meanwhile.
      this.#moved.delete(id);
      await this.#look(id).catch((error: unknown) => {
        this.#moved.add(id);
        throw error;
      });
    }
    return this.#fillOverdue();
  }

  async #look(id: string): Promise<void> {
    const { state: shared } = await this.#deps.executor.cache.load(searches, id);
    const { state } = shared.committed();
    const trial = awaitedTrial(state);
    if (trial === null) this.#waits.delete(id);
    else if (this.#waits.get(id)?.trial !== trial) {
      this.#waits.set(id, { trial, sinceMs: this.#deps.clock.monotonicMs() });
    }
    const question = this.#asked.has(id) ? null : questionOf(state);
    if (question !== null) this.#ask(id, question);
  }

  #ask(id: string, question: Question): void {
    const { model, logger, clock, telemetry } = this.#deps;
    const startedMs = clock.monotonicMs();
    this.#asked.add(id);
    const lookAgain = (): void => {
      this.#asked.delete(id);
      this.#moved.add(id);
      this.loop.wake();
    };
    model.answer(question).then(
      (offer) => {
        telemetry.suggestionTook(clock.monotonicMs() - startedMs);
        this.#offers.push({ id, offer });
        lookAgain();
      },
      (error: unknown) => {
        logger.warn({ err: error, search: id, trial: question.trial }, "suggestion_failed");
        clock.timer(limits.askAgainMs, lookAgain);
      },
    );
  }

  async #fillOverdue(): Promise<number | null> {
    let next: number | null = null;
    for (const [id, { trial, sinceMs }] of this.#waits) {
      const waitedMs = this.#deps.clock.monotonicMs() - sinceMs;
      const leftMs = limits.suggestionWaitMs - waitedMs;
      if (leftMs > 0) {
        next = Math.min(next ?? leftMs, leftMs);
        continue;
      }
      await this.#send(id, { type: "GoWithoutSuggestion", trial, waitedMs });
      this.#waits.delete(id);
    }
    return next;
  }

  /** Sends a command; the search ignores a late suggestion. */
  async #send(id: string, command: OfferSuggestion | GoWithoutSuggestion): Promise<void> {
    const identity = { commitId: newEventId(), meta: serviceMeta("searcher") };
    const done = await this.#deps.executor.execute(identity, async (work) => {
      const decided = await work.decide(searches, id, command);
      return isRejection(decided) ? decided : undefined;
    });
    assert(!isRejection(done), `search ${id} accepts a command about its suggestions`);
  }
}
