import { WorkerCall } from "@trainyard/runtime";
import type { OfferSuggestion, Question } from "@trainyard/search";
import type { SuggestingModel } from "./model.ts";

/** A model in a worker thread, which answers one question after the other. */
export class ThreadModel implements SuggestingModel, AsyncDisposable {
  readonly #thread = new WorkerCall<Question, OfferSuggestion>(
    new URL("./model-thread.ts", import.meta.url),
    "computes suggestions",
  );

  answer(question: Question): Promise<OfferSuggestion> {
    return this.#thread.ask(question);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread[Symbol.asyncDispose]();
  }
}
