/**
 * Verifications of checkpoints. Callers for the same checkpoint share a verification while it runs and until its result
 * is returned.
 */
import { type Clock, Fault } from "@trainyard/kernel";
import { bytesOf, type Manifest } from "../core/manifest.ts";
import type { Telemetry } from "../telemetry.ts";
import { registryLimits } from "../limits.ts";
import { nameOf, type Place } from "./verify.ts";
import type { Verdict } from "./verify-files.ts";

type VerifierEvents = Pick<Telemetry, "verified" | "storageRefused">;

type Read = (place: Place, manifest: Manifest) => Promise<Verdict>;

/** Final verdicts; after any other the caller retries. */
type Settled = Exclude<Verdict, { readonly kind: "unreadable" | "absent" }>;

export class Verifier {
  readonly #read: Read;
  readonly #clock: Clock;
  readonly #events: VerifierEvents;
  readonly #running = new Map<string, Promise<Verdict>>();
  /** The time since when a requested folder, or one of its files, was missing. */
  readonly #absentSinceMs = new Map<string, number>();

  constructor(read: Read, clock: Clock, events: VerifierEvents) {
    this.#read = read;
    this.#clock = clock;
    this.#events = events;
  }

  /**
   * Verifies the folder. Throws a Fault to retry if that takes too long; a later call joins the running verification.
   */
  async verify(place: Place, manifest: Manifest, digest: string): Promise<Settled> {
    const name = nameOf(place);
    const key = `${digest} ${place.storageId} ${name}`;
    const running = this.#running.get(key) ?? this.#begin(key, place, manifest);
    const verdict = await this.#atMost(running, registryLimits.verifyWaitMs);
    // The result is returned, so later callers get a new verification.
    if (this.#running.get(key) === running) this.#running.delete(key);
    if (verdict.kind === "absent") return this.#absent(name, verdict);
    this.#absentSinceMs.delete(name);
    if (verdict.kind === "unreadable") {
      const fault = unreadable(verdict.detail);
      // The brake counts what a store refuses, and an object that is not stored yet is no failure.
      if ("folder" in place) this.#events.storageRefused(fault, "directory");
      throw fault;
    }
    return verdict;
  }

  /** A missing folder or file counts as missing only after some time. */
  #absent(folder: string, { path, detail }: Verdict & { readonly kind: "absent" }): Settled {
    const nowMs = this.#clock.monotonicMs();
    const sinceMs = this.#absentSinceMs.get(folder) ?? nowMs;
    if (nowMs - sinceMs >= registryLimits.folderMissingMs) {
      this.#absentSinceMs.delete(folder);
      return { kind: "differs", path, detail };
    }
    this.#absentSinceMs.set(folder, sinceMs);
    forgetOldest(this.#absentSinceMs);
    throw unreadable(`the file ${JSON.stringify(path)} in ${folder} ${detail}`);
  }

  #begin(key: string, place: Place, manifest: Manifest): Promise<Verdict> {
    const startedMs = this.#clock.monotonicMs();
    const running = this.#read(place, manifest).then((verdict) => {
      const seconds = (this.#clock.monotonicMs() - startedMs) / 1000;
      if (verdict.kind === "verified") this.#events.verified(bytesOf(manifest), seconds);
      return verdict;
    });
    running.catch(() => this.#running.delete(key));
    this.#running.set(key, running);
    forgetOldest(this.#running);
    return running;
  }

  async #atMost<Result>(result: Promise<Result>, ms: number): Promise<Result> {
    const late = Promise.withResolvers<never>();
    using _timer = this.#clock.timer(ms, () =>
      late.reject(
        new Fault("being_verified", "the checkpoint's files are being verified: retry later", {
          retry: "later",
        }),
      ),
    );
    return await Promise.race([result, late.promise]);
  }
}

function unreadable(detail: string): Fault {
  const told = `the checkpoint cannot be read: ${detail}`;
  return new Fault("storage_unreadable", told, { retry: "later" });
}

/** Some callers never return for their result: the oldest results are evicted. */
function forgetOldest(remembered: Map<string, unknown>): void {
  const [oldest] = remembered.keys();
  if (remembered.size > registryLimits.verificationsRememberedMax && oldest !== undefined) {
    remembered.delete(oldest);
  }
}
