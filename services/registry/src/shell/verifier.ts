/**
 * Verifications of checkpoints, each run once however often it is asked for: a caller that asks again while one is
 * running, or before its result was returned, joins it.
 */
import { type Clock, Fault } from "@trainyard/kernel";
import { bytesOf, type Manifest } from "../core/manifest.ts";
import type { Telemetry } from "../telemetry.ts";
import { registryLimits } from "../limits.ts";
import { nameOf, type Place } from "./verify.ts";
import type { Verdict } from "./verify-files.ts";

type Read = (place: Place, manifest: Manifest) => Promise<Verdict>;

/** The verdicts that count; everything else is asked for again. */
type Settled = Exclude<Verdict, { readonly kind: "unreadable" | "absent" }>;

export class Verifier {
  readonly #read: Read;
  readonly #clock: Clock;
  readonly #events: Pick<Telemetry, "verified">;
  readonly #running = new Map<string, Promise<Verdict>>();
  /** Since when a folder was not there, of those that were asked for. */
  readonly #absentSinceMs = new Map<string, number>();

  constructor(read: Read, clock: Clock, events: Pick<Telemetry, "verified">) {
    this.#read = read;
    this.#clock = clock;
    this.#events = events;
  }

  /** Verifies the folder; a Fault after a while, when it takes longer: the same call will then find it further. */
  async verify(place: Place, manifest: Manifest, digest: string): Promise<Settled> {
    const name = nameOf(place);
    const key = `${digest} ${place.storageId} ${name}`;
    const running = this.#running.get(key) ?? this.#begin(key, place, manifest);
    const verdict = await this.#atMost(running, registryLimits.verifyWaitMs);
    // Reported: later callers want the state of their own time.
    if (this.#running.get(key) === running) this.#running.delete(key);
    if (verdict.kind === "absent") return this.#absent(name, verdict);
    this.#absentSinceMs.delete(name);
    if (verdict.kind === "unreadable") throw unreadable(verdict.detail);
    return verdict;
  }

  /** A folder that is not there is missing once it has not been there for a while. */
  #absent(folder: string, { path, detail }: Verdict & { readonly kind: "absent" }): Settled {
    const nowMs = this.#clock.monotonicMs();
    const sinceMs = this.#absentSinceMs.get(folder) ?? nowMs;
    if (nowMs - sinceMs >= registryLimits.folderMissingMs) {
      this.#absentSinceMs.delete(folder);
      return { kind: "differs", path, detail };
    }
    this.#absentSinceMs.set(folder, sinceMs);
    forgetOldest(this.#absentSinceMs);
    throw unreadable(`${folder} is not there`);
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
        new Fault("being_verified", "the checkpoint's files are being verified", {
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

/** A caller that never came again leaves its result behind: the oldest go first. */
function forgetOldest(remembered: Map<string, unknown>): void {
  const [oldest] = remembered.keys();
  if (remembered.size > registryLimits.verificationsRememberedMax && oldest !== undefined) {
    remembered.delete(oldest);
  }
}
