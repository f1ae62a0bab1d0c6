/**
 * Counts the checkpoints that ended runs have left on this host and that the agent still delivers. The host has their
 * only copy, or the only record that they exist. A run is counted from the report that says that it has ended until all
 * of its checkpoints are delivered or given up, also after the scheduler has forgotten it. Checkpoints that the
 * platform does not take (of a lost history, or abandoned) are not counted: a drain would wait for them forever.
 */
import type { Plain } from "@trainyard/contracts";
import type { SealedCheckpoints, UndeliveredCheckpoints } from "@trainyard/contracts/events";
import { limits } from "../limits.ts";

export type LeavingRun = {
  readonly allocation: string;
  /** The undelivered checkpoints of an ended run; undefined for any other. `look` reads them from the disk. */
  undelivered(look: boolean): Plain<SealedCheckpoints> | undefined;
};

export class Undelivered {
  #nextLookMs = Number.NEGATIVE_INFINITY;
  /** The latest count. */
  total = { checkpoints: 0, bytes: 0 };

  /**
   * Returns the field of a report; no field if nothing is left. Reads the folders of forgotten runs only now and then,
   * since reports are sent every second, and there may be many such runs.
   */
  count(
    runs: Iterable<LeavingRun>,
    nowMs: number,
  ): { readonly undelivered?: Plain<UndeliveredCheckpoints> } {
    const look = nowMs >= this.#nextLookMs;
    if (look) this.#nextLookMs = nowMs + limits.undeliveredLookMs;
    const total = { checkpoints: 0, bytes: 0 };
    const left: string[] = [];
    for (const run of runs) {
      const sealed = run.undelivered(look)?.checkpoints ?? [];
      if (sealed.length === 0) continue;
      left.push(run.allocation);
      total.checkpoints += sealed.length;
      for (const { bytes } of sealed) total.bytes += bytes;
    }
    this.total = total;
    if (left.length === 0) return {};
    return { undelivered: { ...total, runs: left.sort().slice(0, limits.undeliveredRunsMax) } };
  }
}
