/**
 * Verifications of checkpoints, each run once however often it is asked for: whoever asks again while one is running, or
 * before its result was told, joins it.
 */
import { type Clock, Fault } from "@trainyard/kernel";
import { bytesOf, type Manifest } from "../core/manifest.ts";
import type { RegistryEvents } from "../events.ts";
import { registryLimits } from "../limits.ts";
import type { Verdict } from "./verify-files.ts";

type Read = (folder: string, manifest: Manifest) => Promise<Verdict>;

export class Verifier {
  readonly #read: Read;
  readonly #clock: Clock;
  readonly #events: Pick<RegistryEvents, "verified">;
  readonly #running = new Map<string, Promise<Verdict>>();

  constructor(read: Read, clock: Clock, events: Pick<RegistryEvents, "verified">) {
    this.#read = read;
    this.#clock = clock;
    this.#events = events;
  }

  /** What the folder holds; a Fault after a while, when it takes longer: the same call will then find it further. */
  async verify(folder: string, manifest: Manifest, digest: string): Promise<Verdict> {
    const key = `${digest} ${folder}`;
    const running = this.#running.get(key) ?? this.#begin(key, folder, manifest);
    const verdict = await this.#atMost(running, registryLimits.verifyWaitMs);
    // Told: whoever asks from now on wants to know how it is by then.
    if (this.#running.get(key) === running) this.#running.delete(key);
    if (verdict.kind !== "unreadable") return verdict;
    throw new Fault("storage_unreadable", `the checkpoint cannot be read: ${verdict.detail}`, {
      retry: "later",
    });
  }

  #begin(key: string, folder: string, manifest: Manifest): Promise<Verdict> {
    const startedMs = this.#clock.monotonicMs();
    const running = this.#read(folder, manifest).then((verdict) => {
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
}
