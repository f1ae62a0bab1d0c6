/**
 * Prepares the suggestions of models ahead of need, driven by the state of the searches. When a search has changed, its
 * question (a function of its state) is sent to the model, one at a time per search, and the answer becomes a command.
 * A free place that waits too long is filled without a suggestion. Nothing is stored: after a crash the same state asks
 * the same question, and the wait restarts.
 */
import { newEventId, type StoredEvent } from "@trainyard/event-log";
import { assert, categoryOf, idOf, isRejection } from "@trainyard/kernel";
import {
  type Acting,
  DueLoop,
  type EffectSpan,
  endsTerm,
  isTransient,
  type LogFold,
  serviceMeta,
} from "@trainyard/runtime";
import {
  awaitedTrial,
  type GoWithoutSuggestion,
  type OfferSuggestion,
  type Question,
  questionOf,
} from "@trainyard/search";
import { limits } from "../limits.ts";
import type { SideLoopsDeps } from "./side-loops.ts";
import { searches } from "../streams.ts";

type Wait = { readonly trial: number; readonly sinceMs: number };

export class Suggestions {
  readonly loop: DueLoop;
  readonly #deps: SideLoopsDeps;
  readonly #open: LogFold<number>;
  /** The searches with a question that is not answered yet, or whose answer is not committed yet. */
  readonly #asked = new Set<string>();
  /** The answers that are not yet committed. */
  readonly #offers = new Map<string, OfferSuggestion>();
  /** The free places that wait for a suggestion, by search. */
  readonly #waits = new Map<string, Wait>();

  constructor(deps: SideLoopsDeps, open: LogFold<number>) {
    this.#deps = deps;
    this.#open = open;
    const spec = { name: "suggestions", service: "searcher", lane: 1 };
    const act = (id: string, _: number, { span }: Acting) => this.#act(id, span);
    const causeOf = (id: string) => open.entries.get(id) ?? 0;
    this.loop = new DueLoop({ ...spec, act, causeOf }, deps);
    for (const id of open.entries.keys()) this.loop.ask(id);
  }

  /** Notes an event of the log. */
  observe({ stream }: StoredEvent): void {
    if (categoryOf(stream) !== "search") return;
    const id = idOf(stream);
    if (this.#open.entries.has(id)) return this.loop.ask(id);
    this.loop.delete(id);
    this.#waits.delete(id);
    this.#offers.delete(id);
    return undefined;
  }

  /** Commits the answer, asks the next question, and fills a place that has waited too long. */
  async #act(id: string, span: EffectSpan): Promise<number | null> {
    const offer = this.#offers.get(id);
    if (offer !== undefined) await this.#offer(id, offer, span);
    const { state: shared } = await this.#deps.executor.cache.load(searches, id);
    const { state } = shared.committed();
    const trial = awaitedTrial(state);
    const nowMs = this.#deps.clock.monotonicMs();
    if (trial === null) this.#waits.delete(id);
    else if (this.#waits.get(id)?.trial !== trial) this.#waits.set(id, { trial, sinceMs: nowMs });
    const question = this.#asked.has(id) ? null : questionOf(state);
    if (question !== null) this.#ask(id, question);
    const wait = this.#waits.get(id);
    if (wait === undefined) return null;
    const waitedMs = nowMs - wait.sinceMs;
    if (waitedMs < limits.suggestionWaitMs) {
      return this.loop.inMs(limits.suggestionWaitMs - waitedMs);
    }
    await this.#send(id, { type: "GoWithoutSuggestion", trial: wait.trial, waitedMs }, span);
    this.#waits.delete(id);
    return null;
  }

  #ask(id: string, question: Question): void {
    const { model, logger, clock, telemetry } = this.#deps;
    const startedMs = clock.monotonicMs();
    this.#asked.add(id);
    model.answer(question).then(
      (offer) => {
        telemetry.suggestionTook(clock.monotonicMs() - startedMs);
        this.#offers.set(id, offer);
        this.loop.ask(id);
      },
      (error: unknown) => {
        logger.warn({ err: error, search: id, trial: question.trial }, "suggestion_failed");
        this.#askLater(id);
      },
    );
  }

  #askLater(id: string): void {
    this.#deps.clock.timer(limits.askAgainMs, () => {
      this.#asked.delete(id);
      if (this.#open.entries.has(id)) this.loop.ask(id);
    });
  }

  /** An answer that the log refuses is dropped; its place is filled without it. */
  async #offer(id: string, offer: OfferSuggestion, span: EffectSpan): Promise<void> {
    try {
      await this.#send(id, offer, span);
      this.#asked.delete(id);
    } catch (error) {
      if (endsTerm(error) || isTransient(error)) throw error;
      const { trial } = offer;
      this.#deps.logger.error({ err: error, search: id, trial }, "suggestion_dropped");
      this.#askLater(id);
    }
    this.#offers.delete(id);
  }

  /** Sends a command; the search ignores a late suggestion. */
  async #send(
    id: string,
    command: OfferSuggestion | GoWithoutSuggestion,
    { traceparent }: EffectSpan,
  ): Promise<void> {
    const identity = { commitId: newEventId(), meta: serviceMeta("searcher", { traceparent }) };
    const done = await this.#deps.executor.execute(identity, async (work) => {
      const decided = await work.decide(searches, id, command);
      return isRejection(decided) ? decided : undefined;
    });
    assert(!isRejection(done), `search ${id} accepts a command about its suggestions`);
  }
}
