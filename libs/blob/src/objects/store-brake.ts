/**
 * Limits the delay that a silent store causes. The first unanswered request lasts until its timeout. After it, all
 * requests to that store fail at once with the same Fault, for `restMs`. At most `atOnceMax` requests wait for one
 * store at a time.
 */
import { type Clock, type Fault, isFault } from "@trainyard/kernel";
import { away } from "./faults.ts";
import type { ObjectStore } from "./port.ts";

export type StoreBrakeSettings = {
  readonly clock: Clock;
  /** Infinite during one pass over many checkpoints. */
  readonly restMs: number;
  readonly atOnceMax: number;
};

export class StoreBrake {
  readonly #settings: StoreBrakeSettings;
  readonly #silent = new WeakMap<
    ObjectStore,
    { readonly fault: Fault; readonly untilMs: number }
  >();
  readonly #waiting = new WeakMap<ObjectStore, number>();

  constructor(settings: StoreBrakeSettings) {
    this.#settings = settings;
  }

  /** Throws the last Fault of the store if the store failed to answer less than `restMs` ago. */
  check(store: ObjectStore): void {
    const silent = this.#silent.get(store);
    if (silent === undefined) return;
    if (this.#settings.clock.monotonicMs() < silent.untilMs) throw silent.fault;
    this.#silent.delete(store);
  }

  /** Runs `work`, which sends a request to the store, unless the store is paused. */
  async ask<Result>(store: ObjectStore, work: () => Promise<Result>): Promise<Result> {
    this.check(store);
    const waiting = this.#waiting.get(store) ?? 0;
    if (waiting >= this.#settings.atOnceMax) {
      throw away(store.address, "take more requests", `${waiting} wait for it already`);
    }
    this.#waiting.set(store, waiting + 1);
    try {
      return await work();
    } catch (error) {
      if (isFault(error) && error.code === "storage_away") this.#rest(store, error);
      throw error;
    } finally {
      this.#waiting.set(store, (this.#waiting.get(store) ?? 1) - 1);
    }
  }

  #rest(store: ObjectStore, fault: Fault): void {
    const { clock, restMs } = this.#settings;
    this.#silent.set(store, { fault, untilMs: clock.monotonicMs() + restMs });
  }
}
