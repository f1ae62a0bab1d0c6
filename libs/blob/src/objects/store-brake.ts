/**
 * Keeps a store that does not answer from holding up what others ask. Each request to it lasts as long as the store's
 * patience: after the first that was not answered the next ones fail at once with the same Fault, until `restMs` are
 * over. No more than `atOnceMax` wait for one store at a time.
 */
import { type Clock, type Fault, isFault } from "@trainyard/kernel";
import { away } from "./faults.ts";
import type { ObjectStore } from "./port.ts";

export type StoreBrakeSettings = {
  readonly clock: Clock;
  /** Infinite: for one pass over many checkpoints. */
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

  /** Throws the Fault of a store that has not answered a while ago. */
  check(store: ObjectStore): void {
    const silent = this.#silent.get(store);
    if (silent === undefined) return;
    if (this.#settings.clock.monotonicMs() < silent.untilMs) throw silent.fault;
    this.#silent.delete(store);
  }

  /** The result of `work`, which asks the store. */
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
