/**
 * The folders of runs whose launch cannot be read: a power cut in a run's first seconds left it empty, or a removal was
 * interrupted after it. Nothing says whose run it was, so nothing of it can be delivered. Such a folder is named in the
 * log, kept as long as undelivered data of other runs, and then removed.
 */
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "@trainyard/kernel";
import { limits } from "../limits.ts";
import { isDiskFull, names, readRecord, writeRecord } from "../state/layout.ts";
import { removeAs } from "../state/remove-as.ts";
import type { Forgotten } from "../state/run-folder.ts";
import { ownerOfFolder } from "../state/run-folders.ts";
import { SealedSpool } from "../state/sealed-spool.ts";
import type { Uptime } from "../state/uptime.ts";
import type { Telemetry } from "../telemetry.ts";

export class LostLaunches {
  readonly #uptime: Uptime;
  readonly #events: Telemetry;
  readonly #clock: Clock;
  /** The uptime at which each folder was noticed first. */
  readonly #noticedMs = new Map<string, number>();

  constructor(uptime: Uptime, events: Telemetry, clock: Clock) {
    this.#uptime = uptime;
    this.#clock = clock;
    this.#events = events;
  }

  notice(path: string): void {
    if (lstatSync(path).isDirectory() === false) return;
    const known = readRecord<Forgotten>(path, names.forgotten)?.upMs;
    const upMs = known ?? this.#uptime.ms;
    this.#noticedMs.set(path, upMs);
    this.#events.launchLost(path, new SealedSpool(join(path, names.run)).sealed().length);
    if (known === undefined) record(path, { atMs: this.#clock.nowMs(), upMs });
  }

  /** Removes the folders that were noticed long ago. One that cannot be removed is tried again in the next call. */
  async cleanUp(signal: AbortSignal): Promise<void> {
    for (const [path, noticedMs] of this.#noticedMs) {
      if (signal.aborted) return;
      if (this.#uptime.ms - noticedMs <= limits.undeliveredMs) continue;
      try {
        // A later launch of the same run has the folder now.
        if (readRecord(path, names.spec) === null) await remove(path);
        this.#noticedMs.delete(path);
      } catch (error) {
        this.#events.notRemoved(path, error);
      }
    }
  }
}

/** Without the record the time begins again at the next start. */
function record(path: string, forgotten: Forgotten): void {
  try {
    writeRecord(path, names.forgotten, forgotten);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

async function remove(path: string): Promise<void> {
  const owner = ownerOfFolder(join(path, names.run));
  if (owner !== null) {
    const work = join(path, names.work);
    const given = lstatSync(work, { throwIfNoEntry: false }) === undefined ? [] : readdirSync(work);
    const places = [
      ...given.map((name) => join(names.work, name)),
      names.home,
      names.tmp,
      names.run,
    ];
    for (const place of places) {
      const found = lstatSync(join(path, place), { throwIfNoEntry: false });
      if (found?.uid === owner.uid) await removeAs(owner, join(path, place));
    }
  }
  rmSync(path, { recursive: true, force: true });
}
