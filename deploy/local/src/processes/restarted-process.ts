/**
 * One process that is kept alive.
 *
 *   stopped ──start()──► starting ──ready──► running
 *      ▲                    ▲   └──ends──┐      │ ends
 *      │ stop()             │            ▼      ▼
 *   stopping ◄──stop()──────┴──after── waiting ◄┘      (ended, when deaths are final)
 *
 * The wait doubles with each death, and is the shortest again once a process has lived for `backoffResetMs`.
 * Every change is reported to `onChange`. Its other transitions are caused by calls of start, stop and restart, which
 * run one at a time.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { pause } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { errorText } from "../cluster-error.ts";
import { isRunning, launch } from "./launch.ts";
import { limits } from "../limits.ts";
import type { Lock } from "./lock.ts";
import type { ProcessPlan } from "./process-plan.ts";
import { waitUntil } from "./wait.ts";

export type ProcessState = "stopped" | "starting" | "running" | "waiting" | "ended" | "stopping";

export type RestartedProcessOptions = {
  /** The lock that the process holds together with the supervisor. */
  readonly lock: Lock;
  /** Whether the supervisor restarts the process after it died. */
  readonly restart: boolean;
  readonly onChange: (
    process: RestartedProcess,
    event: string,
    fields: Record<string, unknown>,
  ) => void;
};

export class RestartedProcess {
  readonly plan: ProcessPlan;
  readonly #options: RestartedProcessOptions;
  #state: ProcessState = "stopped";
  #child: ChildProcess | null = null;
  #deathsInARow = 0;
  #stopping = new AbortController();
  #keeping: Promise<void> = Promise.resolve();

  constructor(plan: ProcessPlan, options: RestartedProcessOptions) {
    this.plan = plan;
    this.#options = options;
  }

  get state(): ProcessState {
    return this.#state;
  }

  /** Null while the process does not run. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** The number of deaths since the process last lived long enough, or since a person started it. */
  get deathsInARow(): number {
    return this.#deathsInARow;
  }

  /** Starts to keep the process alive; does not wait until it serves. */
  start(): void {
    if (this.#state !== "stopped" && this.#state !== "ended") return;
    this.#stopping = new AbortController();
    this.#deathsInARow = 0;
    this.#keeping = this.#keep(this.#stopping.signal);
  }

  async stop(how: NodeJS.Signals = this.plan.stopSignal): Promise<void> {
    this.#stopping.abort();
    await this.#keeping;
    if (this.#child !== null) {
      this.#change("stopping", "stopping", { signal: how });
      await this.#end(this.#child, how);
    }
    this.#child = null;
    if (this.#state !== "stopped") this.#change("stopped", "stopped", {});
  }

  async restart(): Promise<void> {
    await this.stop();
    this.start();
  }

  async #keep(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const startedMs = systemClock.monotonicMs();
      try {
        const child = await this.#launch();
        await this.#stay(child, stop);
        if (isRunning(child)) return;
      } catch (error) {
        this.#change("waiting", "could not be started", { reason: errorText(error) });
      }
      this.#child = null;
      if (systemClock.monotonicMs() - startedMs >= limits.backoffResetMs) this.#deathsInARow = 0;
      this.#deathsInARow += 1;
      if (!this.#options.restart) {
        this.#change("ended", "ended and is not started again", {});
        return;
      }
      await this.#backOff(stop);
    }
  }

  async #backOff(stop: AbortSignal): Promise<void> {
    const waitMs = backoffMs(this.#deathsInARow);
    this.#change("waiting", "died", { deathsInARow: this.#deathsInARow, startsAgainInMs: waitMs });
    await pause(systemClock, waitMs, stop);
  }

  async #launch(): Promise<ChildProcess> {
    const child = await launch(this.plan.command(), this.plan.log, this.#options.lock);
    this.#child = child;
    this.#change("starting", "started", {});
    return child;
  }

  /** Waits until the process ends or is to be stopped. */
  async #stay(child: ChildProcess, stop: AbortSignal): Promise<void> {
    const end = new AbortController();
    child.once("exit", () => end.abort());
    if (!isRunning(child)) end.abort();
    const over = AbortSignal.any([stop, end.signal]);
    await this.#becomeReady(over);
    if (!over.aborted) await once(over, "abort");
  }

  async #becomeReady(over: AbortSignal): Promise<void> {
    const ready = async (): Promise<boolean> => (await this.plan.problem()) === null;
    while (!over.aborted) {
      if (!(await waitUntil(ready, limits.servicesReadyMs, over)) || over.aborted) continue;
      this.#change("running", "ready", {});
      return;
    }
  }

  async #end(child: ChildProcess, how: NodeJS.Signals): Promise<void> {
    child.kill(how);
    if (await waitUntil(() => !isRunning(child), this.plan.stopLimitMs)) return;
    this.#change(this.#state, "did not end in time and is killed", {
      limitMs: this.plan.stopLimitMs,
    });
    child.kill("SIGKILL");
    await waitUntil(() => !isRunning(child), limits.killedMs);
  }

  #change(state: ProcessState, event: string, fields: Record<string, unknown>): void {
    this.#state = state;
    this.#options.onChange(this, event, { pid: this.pid, ...fields });
  }
}

/** The wait before the next start: 0.2 s after the first death, twice as long after each further one, at most 5 s. */
export function backoffMs(deathsInARow: number): number {
  const doubled = limits.backoffFirstMs * 2 ** Math.min(deathsInARow - 1, 20);
  return Math.min(doubled, limits.backoffLastMs);
}
