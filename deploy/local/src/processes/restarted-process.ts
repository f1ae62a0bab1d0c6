/**
 * One process that is kept alive.
 *
 *   stopped ──start()──► starting ──ready──► running
 *      ▲                    ▲   └──ends──┐      │ ends
 *      │ stop()             │            ▼      ▼
 *   stopping ◄──stop()──────┴──after── waiting ◄┘      (ended, when deaths are final)
 *
 * A running process with the same fingerprint is taken over; one with a different fingerprint is stopped before the
 * start. The wait doubles with each death, and is the shortest again once a process has lived for `backoffResetMs`.
 * Every change is reported to `onChange`. Its other transitions are caused by calls of start, stop and restart, which
 * run one at a time.
 */
import type { ChildProcess } from "node:child_process";
import { pause } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { errorText } from "../cluster-error.ts";
import { launch } from "./launch.ts";
import { limits } from "../limits.ts";
import { isAlive, type ProcessIdentity, signal } from "./process-identity.ts";
import type { ProcessPlan } from "./process-plan.ts";
import type { ProcessRecords } from "./records.ts";
import { waitUntil } from "./wait.ts";

export type ProcessState = "stopped" | "starting" | "running" | "waiting" | "ended" | "stopping";

export type RestartedProcessOptions = {
  readonly clusterId: string;
  readonly records: ProcessRecords;
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
  #identity: ProcessIdentity | null = null;
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

  get identity(): ProcessIdentity | null {
    return this.#identity;
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
    if (this.#identity !== null) {
      this.#change("stopping", "stopping", { signal: how });
      await this.#end(this.#identity, how);
    }
    this.#options.records.remove(this.plan.name);
    this.#identity = null;
    if (this.#state !== "stopped") this.#change("stopped", "stopped", {});
  }

  async restart(): Promise<void> {
    await this.stop();
    this.start();
  }

  async #keep(stop: AbortSignal): Promise<void> {
    let first = true;
    while (!stop.aborted) {
      const startedMs = systemClock.monotonicMs();
      try {
        const child = first ? await this.#takeOverOrLaunch() : await this.#launch();
        first = false;
        const alive = await this.#stay(child, stop);
        if (alive) return;
      } catch (error) {
        this.#change("waiting", "could not be started", { reason: errorText(error) });
      }
      this.#identity = null;
      this.#options.records.remove(this.plan.name);
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

  /** Null for a process that was taken over, which is not our child. */
  async #takeOverOrLaunch(): Promise<ChildProcess | null> {
    const { plan } = this;
    const record = this.#options.records.living().find((one) => one.name === plan.name);
    const found = record?.identity ?? plan.find?.() ?? this.#findMarked();
    if (found === null) return this.#launch();
    if (record?.fingerprint !== plan.fingerprint) {
      this.#identity = found;
      this.#change("stopping", "replacing a process of another version or configuration", {});
      await this.#end(found, plan.stopSignal);
      return this.#launch();
    }
    this.#identity = found;
    this.#change("starting", "taken over", {});
    return null;
  }

  #findMarked(): ProcessIdentity | null {
    const { program, parameters } = this.plan.command();
    const { clusterId, records } = this.#options;
    return records.findMarked(clusterId, this.plan.name, [program, ...parameters]);
  }

  async #launch(): Promise<ChildProcess> {
    const { plan } = this;
    const { identity, child } = await launch(plan.command(), plan.log);
    this.#identity = identity;
    if (identity !== null) {
      const { name, kind, fingerprint, log } = plan;
      this.#options.records.save({ name, kind, identity, fingerprint, log });
    }
    this.#change("starting", "started", {});
    return child;
  }

  /** Waits until the process ends (false) or is to be stopped (true). */
  async #stay(child: ChildProcess | null, stop: AbortSignal): Promise<boolean> {
    const over = new AbortController();
    const onStop = (): void => over.abort();
    stop.addEventListener("abort", onStop, { once: true });
    const watch = this.#onceEnded(child, onStop);
    if (stop.aborted) over.abort();
    const ready = this.#becomeReady(over.signal);
    await new Promise<void>((resolve) => {
      if (over.signal.aborted) resolve();
      over.signal.addEventListener("abort", () => resolve(), { once: true });
    });
    watch[Symbol.dispose]();
    stop.removeEventListener("abort", onStop);
    await ready;
    return stop.aborted && this.#identity !== null && isAlive(this.#identity);
  }

  #onceEnded(child: ChildProcess | null, ended: () => void): Disposable {
    if (child !== null) {
      if (child.exitCode !== null || child.signalCode !== null) ended();
      child.once("exit", ended);
      return { [Symbol.dispose]: () => child.off("exit", ended) };
    }
    const timer = setInterval(() => {
      if (this.#identity === null || !isAlive(this.#identity)) ended();
    }, limits.adoptedCheckMs);
    return { [Symbol.dispose]: () => clearInterval(timer) };
  }

  async #becomeReady(over: AbortSignal): Promise<void> {
    const ready = async (): Promise<boolean> => (await this.plan.problem()) === null;
    while (!over.aborted) {
      if (!(await waitUntil(ready, limits.servicesReadyMs, over)) || over.aborted) continue;
      this.#change("running", "ready", {});
      return;
    }
  }

  async #end(identity: ProcessIdentity, how: NodeJS.Signals): Promise<void> {
    signal(identity, how);
    if (await waitUntil(() => !isAlive(identity), this.plan.stopLimitMs)) return;
    this.#change(this.#state, "did not end in time and is killed", {
      limitMs: this.plan.stopLimitMs,
    });
    signal(identity, "SIGKILL");
    await waitUntil(() => !isAlive(identity), limits.sweepMs);
  }

  #change(state: ProcessState, event: string, fields: Record<string, unknown>): void {
    this.#state = state;
    this.#options.onChange(this, event, { pid: this.#identity?.pid ?? null, ...fields });
  }
}

/** The wait before the next start: 0.2 s after the first death, twice as long after each further one, at most 5 s. */
export function backoffMs(deathsInARow: number): number {
  const doubled = limits.backoffFirstMs * 2 ** Math.min(deathsInARow - 1, 20);
  return Math.min(doubled, limits.backoffLastMs);
}
