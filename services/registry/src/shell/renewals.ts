/**
 * Renews the markers of storages after completions: at most once a minute for each root, and never as a part of the
 * completion. The first completion in a storage whose marker names no log claims it.
 */
import { dirname } from "node:path";
import {
  type MarkedPlace,
  markedPlace,
  type StorageClaims,
  type StorageDisk,
  type StoreBrake,
} from "@trainyard/blob";
import { type Clock, isFault } from "@trainyard/kernel";
import { EffectLoop, type Logger } from "@trainyard/runtime";
import { registryLimits } from "../limits.ts";
import type { Telemetry } from "../telemetry.ts";
import type { Place } from "./verify.ts";

export type RenewalsDeps = {
  readonly claims: StorageClaims;
  readonly disk: StorageDisk;
  readonly brake: StoreBrake;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Pick<Telemetry, "markerNotRenewed">;
};

type Due = { readonly marked: MarkedPlace; readonly place: Place };

export class Renewals {
  readonly #deps: RenewalsDeps;
  readonly #due = new Map<string, Due>();
  readonly #lastMs = new Map<string, number>();
  readonly loop: EffectLoop;

  constructor(deps: RenewalsDeps) {
    this.#deps = deps;
    this.loop = new EffectLoop("renewals", deps, () => this.#step());
  }

  /** Called after the completion of a checkpoint at the place. */
  completed(place: Place): void {
    if (place.storageId === "") return;
    const [section, store] =
      "folder" in place
        ? [{ type: "directory", container_path: dirname(place.folder) }, null]
        : [place.section, place.store];
    const marked = markedPlace(section, store, this.#deps.disk);
    this.#due.set(marked.name, { marked, place });
    this.loop.wake();
  }

  async #step(): Promise<number | null> {
    const { clock } = this.#deps;
    let next: number | null = null;
    for (const [name, due] of this.#due) {
      const waitMs = this.#waitMs(name);
      if (waitMs > 0) {
        next = Math.min(next ?? waitMs, waitMs);
        continue;
      }
      this.#due.delete(name);
      this.#lastMs.set(name, clock.monotonicMs());
      await this.#renew(due);
    }
    return next;
  }

  #waitMs(name: string): number {
    const last = this.#lastMs.get(name);
    if (last === undefined) return 0;
    return last + registryLimits.markerRenewedMs - this.#deps.clock.monotonicMs();
  }

  /** A failure is logged. The next completion tries again. */
  async #renew({ marked, place }: Due): Promise<void> {
    const { claims, brake, events } = this.#deps;
    const renew = () => claims.renew(marked, place.storageId);
    try {
      if ("folder" in place) await renew();
      else await brake.ask(place.store, renew);
    } catch (error) {
      if (isFault(error) && error.code === "lease_lost") throw error;
      events.markerNotRenewed(marked.name, error);
    }
  }
}
