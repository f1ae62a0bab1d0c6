/** The thread that reads large bodies, as seen from the others. It starts with the first body, and again when it was lost. */
import { Worker } from "node:worker_threads";
import { Fault } from "@trainyard/kernel";
import type { BodyText, ReadBody } from "./body-text.ts";
import type { BodyAnswer, BodyRequest } from "./body-worker.ts";

type Waiting = { resolve(read: ReadBody): void; reject(error: Error): void };

export class BodyThread implements AsyncDisposable {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #lastId = 0;

  /** Takes the body's memory; a Fault when the thread was lost on the way. */
  read(text: BodyText): Promise<ReadBody> {
    this.#lastId += 1;
    const { buffer, byteLength } = text.body;
    // A copy where the memory is shared with others: what is moved to the thread is gone here.
    const own = buffer instanceof ArrayBuffer && byteLength === buffer.byteLength;
    const body = new Uint8Array(own ? buffer : text.body);
    const request: BodyRequest = { id: this.#lastId, text: { ...text, body } };
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.id, { resolve, reject });
      this.#thread().postMessage(request, [body.buffer]);
    });
  }

  #thread(): Worker {
    if (this.#worker !== null) return this.#worker;
    const worker = new Worker(new URL("./body-worker.ts", import.meta.url));
    worker.unref();
    worker.on("message", ({ id, read }: BodyAnswer) => {
      this.#waiting.get(id)?.resolve(read);
      this.#waiting.delete(id);
    });
    worker.on("error", (cause: Error) => this.#lost(worker, cause));
    worker.on("exit", () => this.#lost(worker, null));
    this.#worker = worker;
    return worker;
  }

  #lost(worker: Worker, cause: Error | null): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    const fault = new Fault("body_not_read", "the thread that reads large requests ended", {
      retry: "later",
      cause,
    });
    for (const waiting of this.#waiting.values()) waiting.reject(fault);
    this.#waiting.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const worker = this.#worker;
    if (worker === null) return;
    this.#lost(worker, null);
    await worker.terminate();
  }
}
