/**
 * A model of all parts below a run: scheduler, agents, metrics and registry, as far as the log shows them. Runs wait,
 * launch, train, report, checkpoint, and end in every possible way; agents are lost while their processes keep
 * reporting.
 */

import type { Plain } from "@trainyard/contracts";
import { type AnyEvent, decodeEvent } from "@trainyard/contracts";
import {
  AllocationEndCause,
  EndReason,
  type RunRequested,
  type RunStopRequested,
  StopMode,
  StopWhy,
} from "@trainyard/contracts/events";
import type { StoredEvent } from "@trainyard/event-log";
import { idOf, isTaskId } from "@trainyard/kernel";
import { Training, type TrainingDeps } from "./training.ts";

type Phase = "queued" | "running" | "ended";

export type ModelDeps = TrainingDeps;

export class ModelCluster {
  readonly #deps: ModelDeps;
  readonly #runs = new Map<string, ModelRun>();
  #position = 0;

  constructor(deps: ModelDeps) {
    this.#deps = deps;
  }

  /** Takes the log's events, each once and in order. */
  see(events: readonly StoredEvent[]): void {
    for (const stored of events) {
      if (stored.position <= this.#position) continue;
      this.#position = stored.position;
      if (/^(?:trial|task)-/.test(stored.stream)) this.#seeOwner(stored);
    }
  }

  /** Takes an event of a trial or a task. */
  #seeOwner(stored: StoredEvent): void {
    const event = decodeEvent(stored);
    const trial = idOf(stored.stream);
    if (event.type === "RunRequested") {
      this.#runs.set(`${trial}#${event.data.run}`, new ModelRun(trial, event.data, this.#deps));
    }
    if (event.type === "RunStopRequested") {
      this.#runs.get(`${trial}#${event.data.run}`)?.stop(event.data);
    }
    if (event.type === "RunStopWithdrawn") {
      this.#runs.get(`${trial}#${event.data.run}`)?.withdrawStop();
    }
  }
}

/** The work of a task, which reports nothing. */
function workOf({ chance }: ModelDeps): Pick<Training, "begins" | "isDone" | "advance"> {
  let ticks = chance.between(1, 10);
  return {
    begins: false,
    get isDone() {
      return ticks <= 0;
    },
    advance() {
      ticks -= 1;
    },
  };
}

class ModelRun {
  readonly #trial: string;
  readonly #requested: Plain<RunRequested>;
  readonly #deps: ModelDeps;
  #phase: Phase = "queued";
  readonly #training: Pick<Training, "begins" | "isDone" | "advance">;
  #stop: Plain<RunStopRequested> | null = null;

  constructor(trial: string, requested: Plain<RunRequested>, deps: ModelDeps) {
    this.#trial = trial;
    this.#requested = requested;
    this.#deps = deps;
    const { run, fromStep } = requested;
    this.#training = isTaskId(trial)
      ? workOf(deps)
      : new Training({ trial, run, fromStep, grant: null }, deps);
    void this.#tell({
      type: "AllocationQueued",
      data: { task: trial, run, job: "", preemptible: true, delayMs: 0, workspace: "", owner: "" },
    });
    this.#later(requested.delayMs + deps.chance.between(1, 3_000), () => this.#launch());
  }

  get #id(): string {
    return `${this.#trial}#${this.#requested.run}`;
  }

  #tell(event: AnyEvent): Promise<boolean> {
    return this.#deps.teller.tell(`allocation-${this.#id}`, [event]);
  }

  #later(afterMs: number, callback: () => void): void {
    this.#deps.clock.timer(afterMs, callback);
  }

  #launch(): void {
    if (this.#phase !== "queued") return;
    const { chance } = this.#deps;
    if (chance.happens(0.06)) return this.#end(AllocationEndCause.LAUNCH_FAILED);
    this.#phase = "running";
    void this.#tell({
      type: "AllocationGranted",
      data: { placements: [], masterAddress: "", masterPort: 0, tokenKey: "", folded: 0 },
    });
    void this.#tell({ type: "AllocationStarted", data: { starts: [] } });
    if (this.#stop !== null) this.#obey(this.#stop);
    this.#nextTick();
  }

  #nextTick(): void {
    this.#later(this.#deps.chance.between(200, 2_000), () => this.#tick());
  }

  #tick(): void {
    if (this.#phase !== "running") return;
    const { chance } = this.#deps;
    if (this.#training.begins && chance.happens(0.03)) {
      return this.#exit(1, EndReason.INVALID_HYPERPARAMETERS);
    }
    if (chance.happens(0.05)) return this.#exit(1, EndReason.ERROR);
    if (chance.happens(0.02)) return this.#exit(137, null);
    if (chance.happens(0.03)) return this.#lose();
    if (chance.happens(0.03)) return this.#exit(0, EndReason.ACKNOWLEDGED_STOP);
    this.#training.advance();
    if (this.#training.isDone)
      return this.#exit(0, chance.happens(0.7) ? EndReason.FINISHED : null);
    this.#nextTick();
  }

  stop(stop: Plain<RunStopRequested>): void {
    this.#stop = stop;
    if (this.#phase === "queued") {
      // The run is withdrawn, unless it is placed before the scheduler has seen the request.
      this.#later(this.#deps.chance.between(0, 500), () => {
        if (this.#phase === "queued") this.#end(AllocationEndCause.WITHDRAWN);
      });
    } else if (this.#phase === "running") {
      this.#obey(stop);
    }
  }

  /** A script that has seen the request ends nevertheless. */
  withdrawStop(): void {
    this.#stop = null;
  }

  #obey(stop: Plain<RunStopRequested>): void {
    const { mode, why, graceMs } = stop;
    const { chance } = this.#deps;
    if (mode === StopMode.KILL) {
      this.#later(chance.between(10, 500), () => this.#end(AllocationEndCause.KILLED));
      return;
    }
    this.#later(graceMs, () => {
      if (this.#stop !== null) this.#end(AllocationEndCause.KILLED);
    });
    const patient = why === StopWhy.PAUSE || why === StopWhy.SEARCH_SUSPEND;
    if (!patient && chance.happens(0.2)) return; // Deaf: trains on until it is killed or has finished.
    const exits: (() => void)[] = [
      () => this.#exit(0, EndReason.ACKNOWLEDGED_STOP),
      () => this.#acknowledgeAndExit(),
      () => this.#exit(1, null),
      () => this.#exit(0, EndReason.FINISHED),
    ];
    const [first, ...rest] = exits;
    if (first === undefined) return;
    const exit = chance.pick([first, first, first, ...rest]);
    this.#later(chance.between(50, 3_000), () => {
      if (this.#phase === "running") exit();
    });
  }

  /** The run acknowledges its stop and exits without an end record. */
  #acknowledgeAndExit(): void {
    void this.#tell({ type: "AllocationStopAcknowledged", data: {} });
    this.#exit(0, null);
  }

  /** The agent is lost with its run, but the process trains on for a while, and its reports arrive. */
  #lose(): void {
    this.#end(AllocationEndCause.AGENT_LOST);
    for (let tick = 1; tick <= this.#deps.chance.between(0, 4); tick += 1) {
      this.#later(tick * 1_500, () => this.#training.advance());
    }
  }

  #exit(code: number, reason: EndReason | null): void {
    if (this.#phase !== "running") return;
    this.#end(AllocationEndCause.EXITED, code, reason);
  }

  #end(cause: AllocationEndCause, code = 0, reason: EndReason | null = null): void {
    if (this.#phase === "ended") return;
    this.#phase = "ended";
    const exit = { nodeRank: 0, agent: "a1", code, signal: "", message: "" };
    void this.#tell({
      type: "AllocationEnded",
      data: {
        cause,
        exits: cause === AllocationEndCause.EXITED ? [exit] : [],
        message: "",
        ...(reason === null ? {} : { endRecord: { reason, message: "" } }),
      },
    });
  }
}
