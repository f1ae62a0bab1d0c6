/** The thread that reads and hashes files, as seen from the others. It starts with the first request, and again when it was lost. */
import { Worker } from "node:worker_threads";
import { Fault } from "@trainyard/kernel";
import type { Manifest } from "../core/manifest.ts";
import type { Place, Verdict } from "./verify-files.ts";
import type { VerifyAnswer, VerifyRequest } from "./verify-worker.ts";

type Waiting = { resolve(verdict: Verdict): void; reject(error: Error): void };

export class VerifyThread implements AsyncDisposable {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #lastId = 0;

  /** What the folder holds; a Fault when the thread was lost on the way. */
  verify(place: Place, manifest: Manifest): Promise<Verdict> {
    this.#lastId += 1;
    const request: VerifyRequest = { id: this.#lastId, place, manifest };
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.id, { resolve, reject });
      this.#thread().postMessage(request);
    });
  }

  #thread(): Worker {
    if (this.#worker !== null) return this.#worker;
    const worker = new Worker(new URL("./verify-worker.ts", import.meta.url));
    worker.unref();
    worker.on("message", ({ id, verdict }: VerifyAnswer) => {
      this.#waiting.get(id)?.resolve(verdict);
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
    const fault = new Fault("verification_lost", "the thread that verifies files ended", {
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
