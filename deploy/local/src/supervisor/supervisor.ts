import { ClusterError } from "../cluster-error.ts";
import type { ProcessInfo } from "../cluster-info.ts";
import { RestartedProcess, type RestartedProcessOptions } from "../processes/restarted-process.ts";
import { limits } from "../limits.ts";
import { boundLog, lastLines } from "../processes/log-files.ts";
import type { ProcessPlan } from "../processes/process-plan.ts";
import { waitUntil } from "../processes/wait.ts";

/** After this number of deaths in a row a start counts as failed; they take about six seconds. */
const hopelessDeaths = 5;

/** Keeps a set of processes alive: started in the order in which they were added, stopped in reverse order. */
export class Supervisor {
  readonly #options: RestartedProcessOptions;
  readonly #processes: RestartedProcess[] = [];
  readonly #ownLog: string;
  readonly #logTimer: NodeJS.Timeout;

  constructor(options: RestartedProcessOptions, ownLog: string) {
    this.#options = options;
    this.#ownLog = ownLog;
    this.#logTimer = setInterval(() => this.#boundLogs(), limits.logCheckMs);
  }

  /** Adds a process and starts it. */
  keep(plan: ProcessPlan): RestartedProcess {
    const process = new RestartedProcess(plan, this.#options);
    this.#processes.push(process);
    process.start();
    return process;
  }

  get processes(): readonly ProcessInfo[] {
    return this.#processes.map((process) => ({
      name: process.plan.name,
      kind: process.plan.kind,
      pid: process.pid,
      state: process.state,
      log: process.plan.log,
    }));
  }

  get serves(): boolean {
    return this.#processes.every((one) => one.state === "running");
  }

  /** Waits until all processes serve. Throws when one keeps dying, is given up, or exceeds the limit. */
  async ready(limitMs: number, signal: AbortSignal): Promise<void> {
    const all = await waitUntil(
      () => {
        const dead = this.#processes.find(
          (one) => one.deathsInARow >= hopelessDeaths || one.state === "ended",
        );
        if (dead !== undefined) throw notReady(dead, "keeps ending");
        return this.serves;
      },
      limitMs,
      signal,
    );
    const late = this.#processes.find((one) => one.state !== "running");
    if (all || late === undefined || signal.aborted) return;
    const reason = await late.plan.problem();
    throw notReady(
      late,
      `is not ready after ${limitMs / 1000} s (${reason ?? "it has just become ready"})`,
    );
  }

  async restart(name: string): Promise<void> {
    const process = this.#processes.find((one) => one.plan.name === name);
    if (process === undefined) {
      const names = this.#processes.map((one) => one.plan.name).join(", ");
      throw new ClusterError(
        "no_such_process",
        `No process of this cluster is called ${name}: there are ${names}.`,
      );
    }
    await process.restart();
    const serves = await waitUntil(
      () => process.state === "running" || process.deathsInARow >= hopelessDeaths,
      limits.servicesReadyMs,
    );
    if (!serves || process.state !== "running")
      throw notReady(process, "does not answer after its restart");
  }

  /** Ends all processes, the last one started first. Agents end their trials too. */
  async stop(): Promise<void> {
    clearInterval(this.#logTimer);
    const agents = this.#processes.filter((one) => one.plan.kind === "agent");
    await Promise.all(agents.map((one) => one.stop(one.plan.downSignal)));
    const services = this.#processes.filter((one) => one.plan.kind === "service");
    await Promise.all(services.toReversed().map((one) => one.stop()));
    const rest = this.#processes.filter((one) => !agents.includes(one) && !services.includes(one));
    for (const one of rest.toReversed()) await one.stop();
  }

  #boundLogs(): void {
    for (const log of [this.#ownLog, ...this.#processes.map((one) => one.plan.log)]) {
      try {
        boundLog(log);
      } catch {
        // A full disk has no space for the copy. The next look tries again.
      }
    }
  }
}

function notReady(process: RestartedProcess, what: string): ClusterError {
  const { name, log } = process.plan;
  const quoted = lastLines(log).join("\n");
  return new ClusterError(
    "not_ready",
    `The process ${name} ${what}: its log ${log} says why ("yard cluster logs ${name}"). Its last lines are:\n${quoted}`,
  );
}
