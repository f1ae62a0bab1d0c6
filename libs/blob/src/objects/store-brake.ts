/**
 * Limits the delay that a silent storage causes: an object store, or the root of a directory storage. The first
 * unanswered request lasts until its timeout. After it, all requests to that storage fail at once with the same Fault,
 * for `restMs`. At most `atOnceMax` requests wait for one storage at a time.
 */
import { type Clock, type Fault, isFault, pause } from "@trainyard/kernel";
import { away } from "./faults.ts";
import type { ObjectStore } from "./port.ts";

export type StoreBrakeSettings = {
  readonly clock: Clock;
  /** Infinite for a loop that calls `askAgain` before each pass over many checkpoints. */
  readonly restMs: number;
  readonly atOnceMax: number;
  /**
   * Called for each request that the store refused or did not answer, with the fault, which names the store, and the
   * kind of storage.
   */
  readonly onFault?: (fault: Fault, kind: BrakedKind) => void;
};

/** The kinds of storages, for the operator. */
export const brakedKinds = ["directory", "s3", "gcs"] as const;

export type BrakedKind = (typeof brakedKinds)[number];

/** The faults of a store; others are about a request. */
export const storageFaults: readonly string[] = [
  "storage_away",
  "storage_refused",
  "bucket_not_found",
  "credentials_missing",
];

/** A store, or the path of a root. */
type Storage = ObjectStore | string;

export type AskLimit = { readonly ms: number; readonly signal: AbortSignal };

export class StoreBrake {
  readonly #settings: StoreBrakeSettings;
  readonly #silent = new Map<Storage, { readonly fault: Fault; readonly untilMs: number }>();
  readonly #waiting = new Map<Storage, number>();

  constructor(settings: StoreBrakeSettings) {
    this.#settings = settings;
  }

  /** Throws the last Fault of the store if the store failed to answer less than `restMs` ago. */
  check(store: Storage): void {
    const silent = this.#silent.get(store);
    if (silent === undefined) return;
    if (this.#settings.clock.monotonicMs() < silent.untilMs) throw silent.fault;
    this.#silent.delete(store);
  }

  /** Ends the pauses of all storages. */
  askAgain(): void {
    this.#silent.clear();
  }

  /**
   * Runs `work`, which sends a request to the store, unless the store is paused. A request to a root may hang: with a
   * limit it is a Fault after that time, or at the signal, and counts as waiting until it ends.
   */
  async ask<Result>(
    store: Storage,
    work: () => Promise<Result>,
    limit?: AskLimit,
  ): Promise<Result> {
    this.check(store);
    const waiting = this.#waiting.get(store) ?? 0;
    if (waiting >= this.#settings.atOnceMax) {
      throw away(
        addressOf(store),
        "take more requests",
        `${waiting} wait for it already, without an answer`,
      );
    }
    this.#waiting.set(store, waiting + 1);
    const running = this.#run(store, work);
    try {
      return await (limit === undefined
        ? running
        : answerWithin(this.#settings.clock, addressOf(store), running, limit));
    } catch (error) {
      if (isFault(error) && storageFaults.includes(error.code))
        this.#settings.onFault?.(error, kindOf(store));
      if (isFault(error) && error.code === "storage_away") this.#rest(store, error);
      throw error;
    }
  }

  async #run<Result>(store: Storage, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } finally {
      const left = (this.#waiting.get(store) ?? 1) - 1;
      // A closed store must not stay in memory.
      if (left > 0) this.#waiting.set(store, left);
      else this.#waiting.delete(store);
    }
  }

  #rest(store: Storage, fault: Fault): void {
    const { clock, restMs } = this.#settings;
    for (const [one, { untilMs }] of this.#silent) {
      if (untilMs <= clock.monotonicMs()) this.#silent.delete(one);
    }
    this.#silent.set(store, { fault, untilMs: clock.monotonicMs() + restMs });
  }
}

function kindOf(store: Storage): BrakedKind {
  if (typeof store === "string") return "directory";
  return store.address.startsWith("gs:") ? "gcs" : "s3";
}

function addressOf(store: Storage): string {
  return typeof store === "string" ? store : store.address;
}

/**
 * Returns the answer of a storage. Throws a Fault `storage_away` if it takes longer than the limit, or at its signal;
 * the request continues.
 */
export async function answerWithin<Result>(
  clock: Clock,
  address: string,
  running: Promise<Result>,
  { ms, signal }: AskLimit,
): Promise<Result> {
  const ended = new AbortController();
  const settled = running.finally(() => ended.abort());
  settled.catch(() => {}); // The caller may be gone by then.
  await pause(clock, ms, AbortSignal.any([signal, ended.signal]));
  if (ended.signal.aborted) return settled;
  const why = signal.aborted ? "the service stops" : `no answer came within ${ms / 1_000} s`;
  throw away(address, "be used", why);
}
