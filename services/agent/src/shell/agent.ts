/**
 * The agent: holds the runs of this host, does what the scheduler wants, and reports all that it has. Level-triggered:
 * the list of what is wanted may come twice, late, or not at all; each report names everything that runs or has ended
 * here and echoes the list that it rests on. Nothing is done because a list does not name a run: the scheduler sees the
 * run in the report and says what is to become of it.
 *
 * A run is recorded on disk before a report echoes the list that launched it, so that an echo without the run's name
 * means for ever that the run is not here.
 */
import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { agentDoSubject, agentReportSubject, type Bus } from "@trainyard/bus";
import { codecOf, type Plain } from "@trainyard/contracts";
import {
  type AllocationReport,
  type Launch,
  type Report,
  ReportSchema,
  type Wanted,
  WantedSchema,
  WantedState,
} from "@trainyard/contracts/agent";
import type { Slot } from "@trainyard/contracts/events";
import { pause, systemClock } from "@trainyard/runtime";
import { refusalOf } from "../core/exit.ts";
import type { AgentEvents } from "../events.ts";
import { limits } from "../limits.ts";
import { isDiskFull, makeFolder, names, readRecord, textOf, writeRecord } from "../state/layout.ts";
import { RunFolder } from "../state/run-folder.ts";
import type { Mechanism } from "../state/run-group.ts";
import type { Contexts } from "./contexts.ts";
import { freeBytes } from "./disk.ts";
import { Run, type RunDeps } from "./run.ts";
import { Wake } from "./wake.ts";

export type AgentIdentity = {
  readonly name: string;
  readonly pool: string;
  readonly address: string;
  readonly version: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly slots: readonly Plain<Slot>[];
  /** How all processes of a run are found and ended here. */
  readonly processGroups: Mechanism;
};

export type AgentDeps = Omit<RunDeps, "agent" | "onChange"> & {
  readonly identity: AgentIdentity;
  readonly folder: string;
  readonly bus: Bus;
  readonly contexts: Contexts;
  readonly events: AgentEvents;
};

const reports = codecOf<Plain<Report>>(ReportSchema);
const wanteds = codecOf<Plain<Wanted>>(WantedSchema);
const utf8 = new TextDecoder();
const bytes = new TextEncoder();

export class Agent implements AsyncDisposable {
  readonly #deps: AgentDeps;
  readonly #runsFolder: string;
  readonly #runs = new Map<string, Run>();
  /** Launches that could not be written down, as they are reported until they are forgotten. They leave nothing on disk. */
  readonly #refused = new Map<string, Plain<AllocationReport>>();
  readonly #incarnation = randomUUID();
  readonly #stopping = new AbortController();
  readonly #changed = new Wake();
  readonly #stack = new AsyncDisposableStack();
  #sequence = 0;
  #epoch = 0;
  #version = 0;
  #highestEpoch = 0;
  #writtenEpoch = 0;
  #probe = 0;
  #isShuttingDown = false;
  #isKnown = false;

  constructor(deps: AgentDeps) {
    this.#deps = deps;
    this.#runsFolder = makeFolder(join(deps.folder, names.runs));
    this.#highestEpoch =
      readRecord<{ epoch: number }>(deps.folder, names.agent)?.epoch ?? this.#highestEpoch;
    this.#writtenEpoch = this.#highestEpoch;
  }

  /** The scheduler has answered since this start, which it does once the agent is registered. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  async start(): Promise<void> {
    const { bus, identity, events } = this.#deps;
    this.#adopt();
    events.adopted(this.#runs.size);
    const loops = Promise.all([this.#reportLoop(), this.#cleanUpLoop()]);
    this.#stack.defer(async () => {
      await loops;
    });
    this.#stack.use(bus.onConnection(this.#changed.wake));
    this.#stack.use(
      await bus.subscribe(agentDoSubject(identity.name), ({ body }) => this.#hear(body)),
    );
  }

  /** Leaves the runs as they are. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#runs.values()].map((run) => run[Symbol.asyncDispose]()));
    await this.#stack.disposeAsync();
  }

  /**
   * Ends all runs, and tells what became of them: those that use the SDK are asked and have time for a checkpoint, then,
   * and the others at once, comes SIGTERM, in the end SIGKILL. Nothing is launched any more.
   */
  async shutDown(): Promise<void> {
    this.#isShuttingDown = true;
    const running = [...this.#runs.values()].filter((run) => !run.isEnded);
    this.#deps.events.shuttingDown(running.length);
    for (const run of running) run.shutDown();
    const { stopGraceMs, shutdownGraceMs, shutdownTellMs } = limits;
    const deadlineMs = performance.now() + stopGraceMs + shutdownGraceMs + shutdownTellMs;
    while (running.some((run) => !run.isDelivered) && performance.now() < deadlineMs) {
      await pause(systemClock, limits.lookMs / 10);
    }
    this.#publish();
  }

  #adopt(): void {
    for (const name of readdirSync(this.#runsFolder)) {
      const path = join(this.#runsFolder, name);
      try {
        const folder = RunFolder.open(path);
        if (folder !== null) this.#hold(folder);
      } catch (error) {
        // One launch that cannot be read must not keep the others from being adopted.
        this.#deps.events.notAdopted(path, error);
      }
    }
  }

  #hold(folder: RunFolder): void {
    const { identity } = this.#deps;
    const deps = { ...this.#deps, agent: identity.name, onChange: this.#changed.wake };
    const run = new Run(folder, deps);
    this.#runs.set(run.allocation, run);
    run.start();
  }

  #hear(body: Uint8Array): void {
    try {
      this.#process(wanteds.decode(utf8.decode(body)));
    } catch (error) {
      // Not echoed, so it comes again with the next beat.
      this.#deps.events.wantedFailed(error);
    }
  }

  #process(wanted: Plain<Wanted>): void {
    const { epoch, version } = wanted;
    const older = epoch === this.#epoch && version < this.#version;
    if (epoch < this.#highestEpoch || older || this.#stopping.signal.aborted) {
      this.#deps.events.staleWanted(epoch, version);
      return;
    }
    this.#raise(epoch);
    this.#probe = wanted.probe;
    this.#isKnown = true;
    // A host that shuts down does not launch; without the echo the scheduler goes on asking, and the next start does.
    if (this.#isShuttingDown) return;
    for (const { allocation, state } of wanted.allocations) {
      if (state === WantedState.KILL) this.#runs.get(allocation)?.kill("wanted");
    }
    for (const allocation of wanted.forget) this.#forget(allocation);
    for (const { allocation, state, launch } of wanted.allocations) {
      if (state !== WantedState.RUN || launch === undefined || this.#has(allocation)) continue;
      this.#launch(launch);
    }
    this.#epoch = epoch;
    this.#version = version;
    this.#publish();
  }

  /** A disk that takes no record takes no launch either, but what is running must be killed all the same. */
  #raise(epoch: number): void {
    if (epoch > this.#highestEpoch) this.#highestEpoch = epoch;
    if (this.#highestEpoch === this.#writtenEpoch) return;
    try {
      writeRecord(this.#deps.folder, names.agent, { epoch: this.#highestEpoch });
      this.#writtenEpoch = this.#highestEpoch;
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      this.#deps.events.diskFull(error);
    }
  }

  #has(allocation: string): boolean {
    return this.#runs.has(allocation) || this.#refused.has(allocation);
  }

  #launch(launch: Plain<Launch>): void {
    try {
      this.#hold(RunFolder.create(this.#runsFolder, launch));
    } catch (error) {
      this.#deps.events.notLaunched(launch.allocation, error);
      this.#refused.set(
        launch.allocation,
        refusalOf(this.#deps.identity.name, launch, textOf(error)),
      );
    }
  }

  #forget(allocation: string): void {
    this.#refused.delete(allocation);
    const run = this.#runs.get(allocation);
    if (run === undefined || !run.isEnded || run.folder.forgotten !== null) return;
    run.folder.recordForgotten();
    this.#deps.events.forgotten(allocation);
  }

  async #reportLoop(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#publish();
      await this.#changed.wait(limits.beatMs, signal);
    }
  }

  #publish(): void {
    const { identity, bus, events } = this.#deps;
    const told = [...this.#runs.values()].filter((run) => run.folder.forgotten === null);
    events.held(told.length);
    this.#sequence += 1;
    const report: Plain<Report> = {
      agent: identity.name,
      incarnation: this.#incarnation,
      sequence: this.#sequence,
      epoch: this.#epoch,
      version: this.#version,
      probe: this.#probe,
      pool: identity.pool,
      slots: [...identity.slots],
      labels: { ...identity.labels },
      agentVersion: identity.version,
      address: identity.address,
      processGroups: identity.processGroups,
      diskFreeBytes: freeBytes(this.#deps.folder),
      allocations: [...told.map((run) => run.report()), ...this.#refused.values()],
    };
    bus.publish(agentReportSubject(identity.name), bytes.encode(reports.encode(report)));
  }

  async #cleanUpLoop(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        for (const { folder } of this.#runs.values()) folder.writeHeld();
        await this.cleanUp();
        await this.#deps.contexts.cleanUp();
      } catch (error) {
        this.#deps.events.cleanUpFailed(error);
      }
      await pause(systemClock, limits.cleanUpMs, signal);
    }
  }

  /** Forgotten runs, the oldest first: those that nobody can ask about any more, and those beyond the number that is kept. */
  async cleanUp(): Promise<void> {
    const nowMs = Date.now();
    const forgotten = [...this.#runs.values()]
      .flatMap((run) => {
        const atMs = run.folder.forgotten?.atMs;
        return atMs === undefined ? [] : [{ run, atMs }];
      })
      .toSorted((a, b) => a.atMs - b.atMs);
    let kept = forgotten.length;
    for (const { run, atMs } of forgotten) {
      const isOld = kept > limits.keptRunsMax || nowMs - atMs > limits.keptRunsMs;
      const isHopeless = nowMs - atMs > limits.undeliveredMs;
      if (!isHopeless && !(isOld && run.isDelivered)) continue;
      if (!run.isDelivered) this.#deps.events.givenUp(run.allocation);
      await run[Symbol.asyncDispose]();
      this.#runs.delete(run.allocation);
      run.folder.remove();
      this.#deps.events.removed(run.allocation);
      kept -= 1;
    }
  }
}
