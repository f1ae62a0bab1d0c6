/**
 * Verifications of checkpoints, each run once however often it is asked for: whoever asks again while one is running, or
 * before its result was told, joins it. The files are read in a thread of its own, which starts with the first.
 */
import { Worker } from "node:worker_threads";
import { assert, type Clock, Fault } from "@trainyard/kernel";
import type { RegistryEvents } from "../events.ts";
import { bytesOf, type Manifest } from "../core/manifest.ts";
import { registryLimits } from "../limits.ts";
import type { Verdict } from "./verify-files.ts";
import type { VerifyAnswer, VerifyRequest } from "./verify-worker.ts";

type Waiting = { resolve(verdict: Verdict): void; reject(error: Error): void };

export class Verifier implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #events: RegistryEvents;
  readonly #running = new Map<string, Promise<Verdict>>();
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #lastId = 0;

  constructor(clock: Clock, events: RegistryEvents) {
    this.#clock = clock;
    this.#events = events;
  }

  /** What the folder holds; a Fault after a while, when it takes longer: the same call will then find it further. */
  async verify(folder: string, manifest: Manifest, digest: string): Promise<Verdict> {
    const key = `${digest} ${folder}`;
    const running = this.#running.get(key) ?? this.#begin(key, folder, manifest);
    const verdict = await this.#atMost(running, registryLimits.verifyWaitMs);
    this.#running.delete(key);
    if (verdict.kind !== "unreadable") return verdict;
    throw new Fault("storage_unreadable", `the checkpoint cannot be read: ${verdict.detail}`, {
      retry: "later",
    });
  }

  #begin(key: string, folder: string, manifest: Manifest): Promise<Verdict> {
    const startedMs = this.#clock.monotonicMs();
    const running = this.#ask(folder, manifest).then((verdict) => {
      const seconds = (this.#clock.monotonicMs() - startedMs) / 1000;
      if (verdict.kind === "verified") this.#events.verified(bytesOf(manifest), seconds);
      return verdict;
    });
    running.catch(() => this.#running.delete(key));
    this.#running.set(key, running);
    // A caller that never came again leaves its result behind: the oldest go first.
    const [oldest] = this.#running.keys();
    if (this.#running.size > registryLimits.verificationsRememberedMax && oldest !== undefined) {
      this.#running.delete(oldest);
    }
    return running;
  }

  #ask(folder: string, manifest: Manifest): Promise<Verdict> {
    this.#lastId += 1;
    const request: VerifyRequest = { id: this.#lastId, folder, manifest };
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

  async #atMost<Result>(result: Promise<Result>, ms: number): Promise<Result> {
    const late = Promise.withResolvers<never>();
    using _timer = this.#clock.timer(ms, () =>
      late.reject(
        new Fault("being_verified", "the checkpoint's files are being verified", {
          retry: "later",
        }),
      ),
    );
    return await Promise.race([result, late.promise]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const worker = this.#worker;
    if (worker === null) return;
    this.#lost(worker, null);
    assert(this.#waiting.size === 0, "nobody waits for a verifier that is closed");
    await worker.terminate();
  }
}
