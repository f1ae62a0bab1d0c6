/**
 * A model in a thread of its own, so that the event loop goes on while it computes. The thread starts with the first
 * question, answers one after the other, and is started anew when it has died; what it was asked by then is rejected.
 */
import { Worker } from "node:worker_threads";
import { Fault } from "@trainyard/kernel";
import type { OfferSuggestion, Question } from "@trainyard/search";
import type { SuggestingModel } from "./model.ts";

export type Asked = { readonly id: number; readonly question: Question };
export type Answered =
  | { readonly id: number; readonly answer: OfferSuggestion }
  | { readonly id: number; readonly error: string };

type Waiting = {
  readonly resolve: (answer: OfferSuggestion) => void;
  readonly reject: (error: Error) => void;
};

export class ThreadModel implements SuggestingModel, AsyncDisposable {
  #thread: Worker | null = null;
  readonly #waiting = new Map<number, Waiting>();
  #asked = 0;

  answer(question: Question): Promise<OfferSuggestion> {
    this.#asked += 1;
    const asked: Asked = { id: this.#asked, question };
    const answer = new Promise<OfferSuggestion>((resolve, reject) => {
      this.#waiting.set(asked.id, { resolve, reject });
    });
    this.#thread ??= this.#start();
    this.#thread.postMessage(asked);
    return answer;
  }

  #start(): Worker {
    const thread = new Worker(new URL("./model-thread.ts", import.meta.url));
    // What waits for answers keeps the process alive, or does not: the thread alone is no reason to.
    thread.unref();
    thread.on("message", (answered: Answered) => this.#settle(answered));
    thread.on("error", (error) => this.#died(thread, error));
    thread.on("exit", () => this.#died(thread, null));
    return thread;
  }

  #settle(answered: Answered): void {
    const waiting = this.#waiting.get(answered.id);
    this.#waiting.delete(answered.id);
    if ("answer" in answered) waiting?.resolve(answered.answer);
    else waiting?.reject(new Fault("model_failed", answered.error, { retry: "later" }));
  }

  #died(thread: Worker, cause: unknown): void {
    if (this.#thread !== thread) return;
    this.#thread = null;
    const fault = new Fault("model_died", "the thread of the model ended", {
      retry: "later",
      cause,
    });
    for (const { reject } of this.#waiting.values()) reject(fault);
    this.#waiting.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const thread = this.#thread;
    await thread?.terminate();
    if (thread !== null) this.#died(thread, null);
  }
}
