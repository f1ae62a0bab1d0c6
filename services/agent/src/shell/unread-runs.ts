/**
 * The runs whose folders an agent could not read at its start, as on a disk that fails for a moment. Their processes
 * may be alive. So they are reported as running, and nobody starts them a second time; reading is repeated.
 */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { Plain } from "@trainyard/contracts";
import { type AllocationReport, AllocationReportState, runOfKey } from "@trainyard/contracts/agent";
import { keyOfFolder, names } from "../state/layout.ts";
import type { Telemetry } from "../telemetry.ts";

export class UnreadRuns {
  /** The folders by the keys of their runs. */
  readonly #paths = new Map<string, string>();
  readonly #adopt: (path: string) => void;
  readonly #events: Pick<Telemetry, "notAdopted">;

  /** `adopt` throws if it cannot read the folder. */
  constructor(adopt: (path: string) => void, events: Pick<Telemetry, "notAdopted">) {
    this.#adopt = adopt;
    this.#events = events;
  }

  read(path: string): void {
    const key = keyOfFolder(basename(path));
    try {
      this.#adopt(path);
      this.#paths.delete(key);
    } catch (error) {
      // A launch that cannot be read must not prevent the adoption of the others.
      this.#events.notAdopted(path, error);
      const mayRun = existsSync(path) && !existsSync(join(path, names.exit));
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

  reports(): readonly Plain<AllocationReport>[] {
    return [...this.#paths.keys()].map((key) => ({
      ...runOfKey(key),
      state: AllocationReportState.RUNNING,
      nodeRank: 0,
      slots: [],
      pid: 0,
      launchFailed: false,
      killed: false,
    }));
  }
}
