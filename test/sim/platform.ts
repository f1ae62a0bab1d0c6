/** The deciding services of the platform as deployed: two replicas of each, over one log. */
import type { MemoryHub } from "@trainyard/bus/testing";
import type { StoredEvent } from "@trainyard/event-log";
import type { MemoryLog } from "@trainyard/event-log/testing";
import { type Clock, experimentId, taskId } from "@trainyard/kernel";
import { beginTerm as beginExperiments } from "@trainyard/service-experiments/leader";
import { beginTerm as beginScheduler } from "@trainyard/service-scheduler/leader";
import { defaultSilence } from "@trainyard/service-scheduler/testing";
import { inlineModel } from "@trainyard/service-searcher/inline-model";
import { beginTerm as beginSearcher } from "@trainyard/service-searcher/leader";
import type { ManualClock } from "@trainyard/testing";
import type { RefusalOf, Troubles } from "./mortal-log.ts";
import { type Begin, Process } from "./process.ts";

export const serviceNames = ["experiments", "searcher", "scheduler"] as const;
export type ServiceName = (typeof serviceNames)[number];

export const tokenKey = { id: "k1", secret: Buffer.alloc(32, 7) };

/**
 * Whether changes of an experiment are applied to its trials in the reaction, or beside it, as for a large experiment.
 */
export type FanOutsWhere = "in_reactions" | "beside";

export type PlatformDeps = {
  readonly clock: ManualClock;
  readonly log: MemoryLog;
  readonly hub: MemoryHub;
  readonly troublesOf: (service: ServiceName) => Troubles;
  readonly restartMs: () => number;
  readonly services: readonly ServiceName[];
  readonly fanOuts: FanOutsWhere;
  /** The wall clock of a replica's host; correct by default. */
  readonly clockOf?: (service: ServiceName, replica: number) => Clock;
  /** The log's refusals of the services' commits; none by default. */
  readonly refusalOf?: RefusalOf;
};

export class Platform {
  readonly #services: readonly ServiceName[];
  readonly #processes: readonly Process[];
  /** The last position that each service has processed. */
  readonly #done = new Map<ServiceName, number>();
  /** The number of the newest experiment. */
  #lastNumber = 0;
  #lastTask = 0;
  readonly #log: MemoryLog;

  constructor(deps: PlatformDeps) {
    const { clock, log, hub, troublesOf, restartMs, services, fanOuts } = deps;
    const clockOf = deps.clockOf ?? (() => clock);
    const refusalOf = deps.refusalOf ?? (() => null);
    const begins = this.#begins(fanOuts);
    this.#log = log;
    this.#services = services;
    this.#processes = services.flatMap((service) =>
      [1, 2].map((replica) => {
        const troubles = troublesOf(service);
        const wall = clockOf(service, replica);
        const deps = { clock: wall, hub, log: log.as(service), troubles, restartMs, refusalOf };
        return new Process(service, replica, deps, begins[service]);
      }),
    );
  }

  #begins(fanOuts: FanOutsWhere): Readonly<Record<ServiceName, Begin>> {
    const ids = {
      next: async () => {
        this.#lastNumber += 1;
        return experimentId(this.#lastNumber);
      },
      nextTask: async () => {
        this.#lastTask += 1;
        return taskId(this.#lastTask);
      },
    };
    const done = (service: ServiceName) => (event: StoredEvent) => {
      // A replica that was paused beyond its lease may still report an older position.
      const done = this.#done.get(service) ?? 0;
      this.#done.set(service, Math.max(done, event.position));
    };
    const count = done("experiments");
    const deletionGraceMs = 30_000;
    const delays = { firstMs: 1_000, lastMs: 300_000 };
    const trialsPerReactionMax = fanOuts === "beside" ? 0 : Number.POSITIVE_INFINITY;
    const decisions = { reportHeard() {}, decided() {}, setAside() {}, turned() {} };
    const telemetry = { ...decisions, recorded() {}, shows() {} };
    return {
      experiments: ({ clock, logger }) =>
        beginExperiments({
          ...{ clock, logger, ids, deletionGraceMs, delays, trialsPerReactionMax, count },
          tasksPerWorkspaceMax: Number.POSITIVE_INFINITY,
          hold: { reason: async () => null },
          onParked() {},
        }),
      searcher: ({ clock, logger }) => {
        const telemetry = { count: done("searcher"), suggestionTook() {}, parked() {} };
        return beginSearcher({ clock, logger, telemetry, model: inlineModel });
      },
      scheduler: (deps) => beginScheduler({ ...deps, telemetry }, { tokenKey, ...defaultSilence }),
    };
  }

  start(): void {
    for (const process of this.#processes) process.start();
  }

  /** Copies the database; the returned function restores the copy. */
  backup(): () => void {
    const restoreLog = this.#log.store.backup();
    const lastNumber = this.#lastNumber;
    const lastTask = this.#lastTask;
    return () => {
      restoreLog();
      this.#lastNumber = lastNumber;
      this.#lastTask = lastTask;
      for (const service of this.#services) {
        this.#done.set(service, this.#log.store.cursor(service, 0).position);
      }
    };
  }

  get deaths(): number {
    return this.#processes.reduce((sum, { deaths }) => sum + deaths, 0);
  }

  /** The last position that both experiments and searcher have processed. */
  get position(): number {
    return Math.min(...this.#services.map((service) => this.#done.get(service) ?? 0));
  }
}
