/**
 * The runs whose folders an agent could not read at its start, as on a disk that fails for a moment. Their processes
 * may be alive. So they are reported as running, and nobody starts them a second time; reading is repeated.
 */
import { existsSync, lstatSync } from "node:fs";
import { basename, join } from "node:path";
import type { Plain } from "@trainyard/contracts";
import { type AllocationReport, AllocationReportState, runOfKey } from "@trainyard/contracts/agent";
import type { SlotOffer } from "../devices/slot-offer.ts";
import { keyOfFolder, names } from "../state/layout.ts";
import type { Telemetry } from "../telemetry.ts";

export class UnreadRuns {
  /** The folders by the keys of their runs. */
  readonly #paths = new Map<string, string>();
  readonly #adopt: (path: string) => void;
  readonly #events: Pick<Telemetry, "notAdopted">;
  readonly #offer: Pick<SlotOffer, "slots">;

  /** `adopt` throws if it cannot read the folder. */
  constructor(
    adopt: (path: string) => void,
    events: Pick<Telemetry, "notAdopted">,
    offer: Pick<SlotOffer, "slots">,
  ) {
    this.#adopt = adopt;
    this.#events = events;
    this.#offer = offer;
  }

  read(path: string): void {
    const key = keyOfFolder(basename(path));
    try {
      this.#adopt(path);
      this.#paths.delete(key);
    } catch (error) {
      const mayRun = isOfDisk(error) && isThere(path) && !existsSync(join(path, names.exit));
      // A launch that cannot be read must not prevent the adoption of the others.
      if (!mayRun || !this.has(key)) this.#events.notAdopted(path, error);
      if (mayRun) this.#paths.set(key, path);
      else this.#paths.delete(key);
    }
  }

  readAgain(): void {
    for (const path of [...this.#paths.values()]) this.read(path);
  }

  has(key: string): boolean {
    return this.#paths.has(key);
  }

  keys(): Iterable<string> {
    return this.#paths.keys();
  }

  /** Any slot of the agent may be one of the run's: the scheduler gives none of them to others. */
  reports(): readonly Plain<AllocationReport>[] {
    const slots = this.#offer.slots.map(({ id }) => id);
    return [...this.#paths.keys()].map((key) => ({
      ...runOfKey(key),
      state: AllocationReportState.RUNNING,
      nodeRank: 0,
      slots,
      pid: 0,
      launchFailed: false,
      killed: false,
    }));
  }
}

/** No later read helps for a record that has another form, as after a downgrade. */
function isOfDisk(error: unknown): boolean {
  return typeof (error as NodeJS.ErrnoException | null)?.errno === "number";
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
