/**
 * A model agent for the real scheduler: it keeps the list of wanted runs, reports at a beat, is sometimes unavailable
 * while its processes train on, and is restarted. Its processes train and end in every way that a script can.
 */
import { createSecretKey } from "node:crypto";
import { agentDoSubject, agentReportSubject, type Bus } from "@trainyard/bus";
import { codecOf, type Plain } from "@trainyard/contracts";
import {
  type AllocationReport,
  AllocationReportState,
  type Launch,
  type Report,
  ReportSchema,
  runKeyOf,
  runOfKey,
  spokenProtocol,
  type Wanted,
  WantedSchema,
  WantedState,
} from "@trainyard/contracts/agent";
import { EndReason } from "@trainyard/contracts/events";
import type { Clock } from "@trainyard/kernel";
import { readRunToken } from "@trainyard/runtime";
import { tokenKey } from "./platform.ts";
import { Saving } from "./saving.ts";
import { Training, type TrainingDeps } from "./training.ts";

const tokenKeys = new Map([[tokenKey.id, createSecretKey(tokenKey.secret)]]);

const beatMs = 1_000;
/** A longer grace would only add virtual time to a script that hangs. */
const shortGraceMs = 60_000;

const reports = codecOf<Plain<Report>>(ReportSchema);
const wanteds = codecOf<Plain<Wanted>>(WantedSchema);
const utf8 = { in: new TextDecoder(), out: new TextEncoder() };

type Held = Plain<AllocationReport>;
type ModelAgentDeps = TrainingDeps & {
  /** The remaining grace after a request to stop, as the SDK would read it; null without a request. */
  readonly graceMs: (allocation: string) => number | null;
  /** The wall clock of the agent's host. */
  readonly wall: Clock;
  /** The end record of a script, of any length. */
  readonly lastWord: string;
  readonly health: Health;
  /** How many times longer training takes. */
  readonly pace: number;
};

/** On a fickle host launches and scripts sometimes fail, on a broken one every run fails at its start. */
export type Health = "fickle" | "sound" | "broken";

export class ModelAgent {
  readonly #name: string;
  readonly #bus: Bus;
  readonly #slots: number;
  readonly #deps: ModelAgentDeps;
  /** By the keys of the runs. */
  readonly #held = new Map<string, Held>();
  /** The keys of runs that do not use the SDK, so that they are asked to stop by SIGTERM. */
  readonly #withoutSdk = new Set<string>();
  /** The saves of the runs of tasks that keep their work. */
  readonly #savings = new Map<string, Saving>();
  #incarnation = 1;
  #startedMs = 0;
  #sequence = 0;
  /** The epoch of the last list processed since the agent's start. */
  #epoch = 0;
  #version = 0;
  /** The highest epoch, kept in the agent's folder like its runs: lists of a lower epoch are ignored. */
  #highestEpoch = 0;
  #probe = 0;
  #away = false;

  constructor(name: string, bus: Bus, slots: number, deps: ModelAgentDeps) {
    this.#name = name;
    this.#bus = bus;
    this.#slots = slots;
    this.#deps = deps;
  }

  async start(): Promise<void> {
    this.#startedMs = this.#deps.wall.nowMs();
    await this.#bus.subscribe(agentDoSubject(this.#name), ({ body }) => {
      if (!this.#away) this.#process(wanteds.decode(utf8.in.decode(body)));
    });
    this.#beat();
  }

  /** The name of the agent's present start. */
  get #start(): string {
    return `${this.#name} ${this.#incarnation}`;
  }

  #beat(): void {
    this.#report();
    this.#deps.clock.timer(beatMs, () => this.#beat());
  }

  /** Cuts the agent off from the bus for a while. */
  freeze(forMs: number): void {
    this.#away = true;
    this.#deps.clock.timer(forMs, () => {
      this.#away = false;
      this.#report();
    });
  }

  /** Makes the agent or its host unavailable; its runs continue. */
  leave(forMs: number): void {
    this.#away = true;
    this.#deps.clock.timer(forMs, () => {
      this.#away = false;
      this.#incarnation += 1;
      this.#startedMs = Math.max(this.#startedMs + 1, this.#deps.wall.nowMs());
      this.#sequence = 0;
      this.#epoch = 0;
      this.#version = 0;
      this.#report();
    });
  }

  #process(wanted: Plain<Wanted>): void {
    if (wanted.incarnation !== this.#start) return;
    const older = wanted.epoch === this.#epoch && wanted.version < this.#version;
    if (older || wanted.epoch < this.#highestEpoch) return;
    this.#highestEpoch = wanted.epoch;
    this.#epoch = wanted.epoch;
    this.#version = wanted.version;
    this.#probe = wanted.probe;
    for (const { launch, ...named } of wanted.allocations) {
      const key = runKeyOf(named);
      if (named.state === WantedState.KILL) this.#kill(key);
      else if (named.state === WantedState.STOP) this.#terminate(key);
      else if (launch !== undefined && !this.#held.has(key)) this.#launch(launch);
    }
    for (const named of wanted.forget) this.#held.delete(runKeyOf(named));
    this.#report();
  }

  #launch(launch: Plain<Launch>): void {
    const { allocation, requestId, nodeRank, slots, trial, run, stepsCompleted, token } = launch;
    const grant = readRunToken(tokenKeys, token);
    const key = runKeyOf(launch);
    const state = AllocationReportState.PREPARING;
    const none = { pid: 0, launchFailed: false, killed: false };
    this.#held.set(key, { allocation, requestId, state, nodeRank, slots, ...none });
    const { clock, chance } = this.#deps;
    if (launch.task !== undefined || chance.happens(0.3)) this.#withoutSdk.add(key);
    clock.timer(chance.between(50, 1_500), () => {
      if (this.#fails(0.04)) return this.#end(key, 1, null, { launchFailed: true });
      this.#change(key, { state: AllocationReportState.RUNNING, pid: 1 });
      const saving = Saving.of(launch, this.#deps);
      if (saving !== null) this.#savings.set(key, saving);
      if (launch.task !== undefined) return this.#work(key);
      const of = { trial, run, fromStep: stepsCompleted, grant };
      // The first of several nodes reports and decides for all.
      if (nodeRank === 0) this.#train(key, new Training(of, this.#deps));
      else this.#follow(key);
    });
  }

  #fails(probability: number): boolean {
    return this.#deps.health === "fickle" && this.#deps.chance.happens(probability);
  }

  #runs(key: string): boolean {
    return this.#held.get(key)?.state === AllocationReportState.RUNNING;
  }

  #train(key: string, training: Training): void {
    const { clock, chance } = this.#deps;
    clock.timer(this.#deps.pace * chance.between(200, 2_000), () => {
      if (!this.#runs(key)) return;
      if (this.#deps.health === "broken") return this.#end(key, 1, null);
      if (training.begins && this.#fails(0.03)) {
        return this.#end(key, 1, EndReason.INVALID_HYPERPARAMETERS);
      }
      if (this.#fails(0.05)) return this.#end(key, 1, EndReason.ERROR);
      if (this.#fails(0.02)) return this.#end(key, 137, null);
      const graceMs = this.#deps.graceMs(runOfKey(key).allocation);
      if (graceMs !== null && !this.#withoutSdk.has(key)) {
        // Some scripts rarely check for a stop, and some hang at the end until they are killed.
        if (graceMs <= shortGraceMs && chance.happens(0.2)) return;
        if (chance.happens(0.6)) return this.#end(key, 0, EndReason.ACKNOWLEDGED_STOP);
      }
      training.advance();
      if (training.isDone) return this.#end(key, 0, EndReason.FINISHED);
      this.#train(key, training);
    });
  }

  /** The process of a task ends by itself at some time, with any exit code, or because nobody uses it. */
  #work(key: string): void {
    const { clock, chance } = this.#deps;
    clock.timer(this.#deps.pace * chance.between(100, 10_000), () => {
      if (this.#runs(key)) this.#savings.get(key)?.work();
    });
    clock.timer(this.#deps.pace * chance.between(200, 20_000), () => {
      if (!this.#runs(key)) return;
      if (this.#savings.has(key) && chance.happens(0.2)) this.#end(key, 0, EndReason.IDLE);
      else this.#end(key, this.#fails(0.3) ? chance.pick([1, 137]) : 0, null);
    });
  }

  /** A node other than the first ends by itself at some time; the platform ends it if the others have ended. */
  #follow(key: string): void {
    const { clock, chance } = this.#deps;
    clock.timer(chance.between(2_000, 20_000), () => {
      if (this.#runs(key)) this.#end(key, 0, null);
    });
  }

  /** Sends SIGTERM, which some scripts ignore, and others answer with any exit. */
  #terminate(key: string): void {
    const held = this.#held.get(key);
    if (held === undefined || held.terminated === true || !this.#withoutSdk.has(key)) return;
    const { clock, chance } = this.#deps;
    const isUp = held.state === AllocationReportState.RUNNING;
    this.#change(key, { terminated: true });
    if (isUp && chance.happens(0.2)) return;
    const code = isUp ? chance.pick([0, 1, 143]) : null;
    clock.timer(chance.between(10, isUp ? 3_000 : 100), () => this.#end(key, code, null));
  }

  #kill(key: string): void {
    const { clock, chance } = this.#deps;
    clock.timer(chance.between(10, 300), () => this.#end(key, null, null, { killed: true }));
  }

  #end(key: string, code: number | null, reason: EndReason | null, rest: Partial<Held> = {}): void {
    const held = this.#held.get(key);
    if (held === undefined || held.state === AllocationReportState.ENDED) return;
    const exit = {
      nodeRank: held.nodeRank,
      agent: this.#name,
      signal: code === null ? "SIGKILL" : "",
      message: "",
      ...(code === null ? {} : { code }),
    };
    const checkpoints = this.#savings.get(key)?.end() ?? [];
    this.#change(key, {
      state: AllocationReportState.ENDED,
      exit,
      ...(checkpoints.length === 0 ? {} : { sealed: { checkpoints } }),
      ...(reason === null ? {} : { endRecord: { reason, message: this.#deps.lastWord } }),
      ...rest,
    });
    this.#report();
  }

  #change(key: string, change: Partial<Held>): void {
    const held = this.#held.get(key);
    if (held === undefined || held.state === AllocationReportState.ENDED) return;
    this.#held.set(key, { ...held, ...change });
  }

  #report(): void {
    if (this.#away) return;
    this.#sequence += 1;
    const report: Plain<Report> = {
      agent: this.#name,
      incarnation: this.#start,
      folder: `folder-${this.#name}`,
      place: `place-${this.#name}`,
      startedMs: this.#startedMs,
      highestEpoch: this.#highestEpoch,
      sequence: this.#sequence,
      epoch: this.#epoch,
      version: this.#version,
      probe: this.#probe,
      pool: "default",
      slots: Array.from({ length: this.#slots }, (_, n) => ({
        id: String(n),
        device: "cpu",
        uuid: "",
        memoryBytes: 0,
      })),
      labels: {},
      agentVersion: "1",
      ...spokenProtocol,
      address: `host-${this.#name}`,
      processGroups: "cgroup",
      diskFreeBytes: 1e12,
      notices: [],
      allocations: [...this.#held.values()],
    };
    this.#bus.publish(agentReportSubject(this.#name), utf8.out.encode(reports.encode(report)));
  }
}
