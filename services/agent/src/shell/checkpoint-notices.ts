/**
 * Says why the checkpoints of an ended run wait: each reason once in an outage to the agent's log. The trial's log gets
 * a line when the platform refuses the run itself, and when a checkpoint has waited for a day, since then a person has
 * to act.
 */
import type { Clock } from "@trainyard/kernel";
import { limits } from "../limits.ts";
import type { RunFolder } from "../state/run-folder.ts";
import type { Sealed } from "../state/sealed-spool.ts";
import type { Telemetry } from "../telemetry.ts";
import type { Abandoned, Later, Lost } from "./checkpoint-answers.ts";

export type NoticeDeps = {
  readonly folder: RunFolder;
  readonly events: Telemetry;
  readonly clock: Clock;
  /** Writes a line to the trial's log. */
  readonly tell: (text: string) => void;
};

export class CheckpointNotices {
  readonly #deps: NoticeDeps;
  /** The reasons since the last delivery: an outage that is mended may uncover another. */
  readonly #said = new Set<string>();
  #saidLost = false;
  #saidRefused = false;
  #saidLong = false;

  constructor(deps: NoticeDeps) {
    this.#deps = deps;
  }

  /** Called for an answer after which the sealed checkpoints wait. */
  waits({ why, ...answer }: Later | Lost | Abandoned, sealed: readonly Sealed[]): void {
    const { events, folder, tell } = this.#deps;
    const { allocation } = folder.launch;
    if (answer.kind !== "later") {
      if (this.#saidLost && answer.kind === "lost") return;
      this.#saidLost ||= answer.kind === "lost";
      const named = sealed.slice(-limits.sealedNamedMax).map(({ checkpoint }) => checkpoint);
      const what = { checkpoints: named, folder: folder.path, why };
      if (answer.kind === "lost") events.historyLost(allocation, what);
      else events.checkpointAbandoned(allocation, what);
      tell(
        `${countOf(sealed)} of this run cannot be stored, and the files stay on this host: ${why}`,
      );
      return;
    }
    const again = this.#said.has(why) || this.#said.size >= limits.waitReasonsSaidMax;
    events.checkpointsWait(allocation, why, again);
    if (!again) this.#said.add(why);
    if (answer.refusesCaller === true && !this.#saidRefused) {
      this.#saidRefused = true;
      tell(
        `${countOf(sealed)} of this run cannot be stored yet, since the platform refuses: ${why}`,
      );
    }
    this.#noteLong(sealed, why);
  }

  progressed(): void {
    this.#said.clear();
    this.#saidLost = false;
    this.#saidRefused = false;
  }

  #noteLong(sealed: readonly Sealed[], why: string): void {
    const { clock, events, folder, tell } = this.#deps;
    const beforeMs = clock.nowMs() - limits.waitsLongMs;
    const long = sealed.filter(({ sealedMs }) => sealedMs < beforeMs);
    if (this.#saidLong || long.length === 0) return;
    this.#saidLong = true;
    events.checkpointsWaitLong(folder.launch.allocation, long.length, why);
    tell(
      `${countOf(long)} of this run waited for more than a day to be stored, and are only on this host: ${why}`,
    );
  }
}

function countOf(sealed: readonly Sealed[]): string {
  return sealed.length === 1 ? "1 checkpoint" : `${sealed.length} checkpoints`;
}
