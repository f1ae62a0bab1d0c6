/** Ends the processes of one run: signals again and again until none lives, and says what cannot be killed. */
import { type Clock, pause } from "@trainyard/kernel";
import { describeSurvivors } from "../core/surviving-processes.ts";
import { limits } from "../limits.ts";
import { isAlive } from "@trainyard/kernel/process-identity";
import type { RunFolder } from "../state/run-folder.ts";
import type { RunGroup } from "../state/run-group.ts";

export type Orphans = { readonly found: boolean; readonly remains: string };

export class RunEnding {
  readonly #folder: RunFolder;
  readonly #clock: Clock;
  readonly #onLeft: (text: string) => void;
  /** One for each run: it remembers whom it has seen. */
  #known: RunGroup | null = null;
  #signalled: { readonly name: NodeJS.Signals | null; readonly atMs: number } = {
    name: null,
    atMs: 0,
  };
  /** Since when the run should be gone. */
  #sinceMs: number | null = null;
  #left = "";

  /** `onLeft` hears each time that what cannot be killed has changed. */
  constructor(folder: RunFolder, clock: Clock, onLeft: (text: string) => void) {
    this.#folder = folder;
    this.#clock = clock;
    this.#onLeft = onLeft;
  }

  /** The processes that are still there long after their kill, in a sentence; empty where there are none. */
  get left(): string {
    return this.#left;
  }

  get #group(): RunGroup {
    this.#known ??= this.#folder.group;
    return this.#known;
  }

  /** SIGKILL, again and again; at a shutdown SIGTERM first, once: a second one often means "at once". */
  signal(): void {
    const { process: leader, kill } = this.#folder;
    // Before it the supervisor has recorded how the processes are found.
    if (leader === null) return;
    const graceful =
      kill?.why === "shutdown" && this.#clock.nowMs() - kill.atMs < limits.shutdownGraceMs;
    const name = graceful ? "SIGTERM" : "SIGKILL";
    const nowMs = this.#clock.monotonicMs();
    const { name: before, atMs } = this.#signalled;
    if (name === before && (graceful || nowMs - atMs < limits.killAgainMs)) return;
    if (this.#group.signal(name)) this.#signalled = { name, atMs: nowMs };
  }

  /** Looks after a run whose end is not on record yet: whether anything of it should be gone and is not. */
  look(): void {
    const { process: leader } = this.#folder;
    const isOverdue = this.#signalled.name === "SIGKILL" || (leader !== null && !isAlive(leader));
    if (isOverdue) this.#look();
  }

  #look(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#sinceMs ??= nowMs;
    if (nowMs - this.#sinceMs < limits.tellLeftMs) return;
    const left = describeSurvivors(this.#group.members());
    if (left === this.#left) return;
    this.#left = left;
    this.#onLeft(left);
  }

  /**
   * Kills what a dead supervisor has left until none of it lives, and gives back what holds it: whether there was
   * anything, and what remains. Null when the signal aborts.
   */
  async endOrphans(signal: AbortSignal): Promise<Orphans | null> {
    const group = this.#group;
    const found = !group.isOver();
    const untilMs = this.#clock.monotonicMs() + limits.removeContainerMs;
    for (let looks = 0; ; looks += 1) {
      if (group.signal("SIGKILL")) looks = -1;
      if (looks < 0) this.#look();
      if (looks >= limits.looksToBeSure) {
        const remains = await group.remove();
        if (remains === "" || this.#clock.monotonicMs() >= untilMs) return { found, remains };
      }
      await pause(this.#clock, limits.lookMs / 10, signal);
      if (signal.aborted) return null;
    }
  }
}
