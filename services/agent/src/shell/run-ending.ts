/** Ends the processes of one run: signals repeatedly until none lives, and reports those that cannot be killed. */
import { type Clock, pause } from "@trainyard/kernel";
import { describeSurvivors } from "../core/surviving-processes.ts";
import type { KillRecord } from "../core/records.ts";
import { limits } from "../limits.ts";
import { isAlive } from "@trainyard/kernel/process-identity";
import type { RunFolder } from "../state/run-folder.ts";
import type { RunGroup } from "../state/run-group.ts";

export type Orphans = { readonly found: boolean; readonly remains: string };

/** Describes the end of a run whose supervisor is dead. `never`: the supervisor had started no process. */
export function howItEnded({ found }: Orphans, never: boolean): string {
  if (never) return "its supervisor ended before it could start it";
  return found
    ? "its supervisor was killed, so the agent ended it: how it would have ended is not known"
    : "its host or its supervisor went away, and nobody saw how it ended";
}

/** The time from SIGTERM to SIGKILL. */
function graceOf({ why, graceMs = 0 }: KillRecord): number {
  if (why === "asked") return Number.POSITIVE_INFINITY;
  if (why === "shutdown") return limits.shutdownGraceMs;
  return why === "ended" ? graceMs : 0;
}

export class RunEnding {
  readonly #folder: RunFolder;
  readonly #clock: Clock;
  readonly #onLeft: (text: string) => void;
  /** The run's group, one per run, since it remembers the processes that it has seen. */
  #known: RunGroup | null = null;
  #signalled: { readonly name: NodeJS.Signals | null; readonly atMs: number };
  /** The time since which no process of the run should live. */
  #sinceMs: number | null = null;
  #left = "";

  /** `onLeft` is called whenever the processes that cannot be killed have changed. */
  constructor(folder: RunFolder, clock: Clock, onLeft: (text: string) => void) {
    this.#folder = folder;
    this.#clock = clock;
    this.#onLeft = onLeft;
    // An earlier agent has sent this SIGTERM: programs take a second one as "at once".
    const wasAsked = folder.kill?.why === "asked" || folder.kill?.why === "ended";
    this.#signalled = { name: wasAsked ? "SIGTERM" : null, atMs: 0 };
  }

  /** A sentence about the processes that still live long after their kill; empty for none. */
  get left(): string {
    return this.#left;
  }

  /** The run's processes. Before it starts the leader, the supervisor has recorded how they are found. */
  get pids(): ReadonlySet<number> {
    const members = this.#folder.process === null ? [] : this.#group.members();
    return new Set(members.map(({ pid }) => pid));
  }

  get #group(): RunGroup {
    this.#known ??= this.#folder.group;
    return this.#known;
  }

  /** Sends SIGKILL repeatedly; SIGTERM, once, to a run that is asked to end, and before SIGKILL to other runs. */
  signal(): void {
    const { process: leader, kill } = this.#folder;
    // Before it starts the leader, the supervisor has recorded how the processes are found.
    if (leader === null) return;
    const graceMs = kill === null ? 0 : graceOf(kill);
    const graceful = kill !== null && this.#clock.nowMs() - kill.atMs < graceMs;
    const name = graceful ? "SIGTERM" : "SIGKILL";
    const nowMs = this.#clock.monotonicMs();
    const { name: before, atMs } = this.#signalled;
    if (name === before && (graceful || nowMs - atMs < limits.killAgainMs)) return;
    if (this.#group.signal(name)) this.#signalled = { name, atMs: nowMs };
  }

  /** Checks a run without a recorded end for processes that should be dead. */
  look(): void {
    const { process: leader, kill } = this.#folder;
    // After a request to end, processes may outlive the leader until they are killed.
    const isLeft = kill === null && leader !== null && !isAlive(leader);
    const isOverdue = this.#signalled.name === "SIGKILL" || isLeft;
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
   * Kills the processes that a dead supervisor left until none lives, and releases their cgroup or container. Returns
   * whether any process lived, and what could not be released; null when the signal aborts.
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
