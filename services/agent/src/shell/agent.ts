/**
 * The agent: keeps the runs of this host, carries out the scheduler's lists, and reports all its runs. The protocol is
 * level-triggered: a list of wanted runs may arrive twice, late, or not at all; each report names all runs that run or
 * have ended here, and echoes the list that it answers. A run that a list does not name is left alone: the scheduler
 * sees it in the report, and decides.
 *
 * A run is recorded on disk before a report echoes the list that launched it, so that an echo without the run's name
 * proves that the run is not and will not be here.
 */
import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { agentDoSubject, agentReportSubject, type Bus } from "@trainyard/bus";
import { codecOf, type Plain } from "@trainyard/contracts";
import {
  type AllocationReport,
  type Launch,
  protocolProblem,
  type Report,
  type RequestedRun,
  runKeyOf,
  spokenProtocol,
  type Wanted,
  WantedSchema,
  WantedState,
} from "@trainyard/contracts/agent";
import { type Clock, pause } from "@trainyard/kernel";
import { refusalOf } from "../core/exit.ts";
import type { Telemetry } from "../telemetry.ts";
import type { HostFacts } from "../host-metrics.ts";
import { limits } from "../limits.ts";
import { watchIdle } from "../idle/idle-watch.ts";
import type { FolderIdentity } from "../state/folder-identity.ts";
import { makeFolder, names, textOf } from "../state/layout.ts";
import { RunFolder } from "../state/run-folder.ts";
import type { Mechanism } from "../state/run-group.ts";
import { Uptime } from "../state/uptime.ts";
import type { RunUsers } from "../users/run-users.ts";
import type { CodeArchives } from "./code-archives.ts";
import { cleanUpForgotten, type Remains } from "./forgotten-runs.ts";
import { freeBytes } from "./disk.ts";
import { HostWatch } from "./host-watch.ts";
import { reportMessages } from "./report-messages.ts";
import { LostLaunches } from "./lost-launches.ts";
import { Run } from "./run.ts";
import type { RunDeps } from "./run-deps.ts";
import { SchedulerEpochs } from "./scheduler-epochs.ts";
import { spoolsOf } from "./spools.ts";
import { checkStored } from "./stored-checks.ts";
import { Undelivered } from "./undelivered.ts";
import { UnreadRuns } from "./unread-runs.ts";
import { WakeSignal } from "./wake-signal.ts";

export type AgentIdentity = {
  readonly name: string;
  readonly pool: string;
  readonly address: string;
  readonly version: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The mechanism by which this host's runs are found and ended. */
  readonly processGroups: Mechanism;
  /** The engine of runs in containers, docker or podman; absent for processes. */
  readonly engine?: string;
  /** True if training code has the rights of root on this host. */
  readonly runsAsRoot?: true;
} & FolderIdentity;

export type AgentDeps = Omit<RunDeps, "agent" | "epochs" | "onChange"> & {
  readonly identity: AgentIdentity;
  readonly users: RunUsers;
  /** The interval between two looks at the devices. */
  readonly deviceLookMs: number;
  readonly folder: string;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly contexts: CodeArchives;
  readonly events: Telemetry;
};

const wanteds = codecOf<Plain<Wanted>>(WantedSchema);
const utf8 = new TextDecoder();

export class Agent implements AsyncDisposable {
  readonly #deps: AgentDeps;
  readonly #runsFolder: string;
  /** All runs of the folder, by their keys: the ids of allocations with their requests. */
  readonly #runs = new Map<string, Run>();
  /** Launches that could not be written, with their reports, until they are forgotten. They leave nothing on disk. */
  readonly #refused = new Map<string, Plain<AllocationReport>>();
  readonly #unread: UnreadRuns;
  readonly #incarnation = randomUUID();
  readonly #stopping = new AbortController();
  readonly #changed: WakeSignal;
  /** Set when a run was forgotten, so that its folder may be removed. */
  readonly #forgot: WakeSignal;
  readonly #epochs: SchedulerEpochs;
  readonly #uptime: Uptime;
  readonly #undelivered = new Undelivered();
  readonly #remains: Remains;
  readonly #host: HostWatch;
  readonly #stack = new AsyncDisposableStack();
  #cleaning = Promise.resolve();
  #sequence = 0;
  #epoch = 0;
  #version = 0;
  #probe = 0;
  #isShuttingDown = false;
  /** The reason why this agent is not ready; null once the scheduler sends it a list. */
  #problem: string | null = "the scheduler has not answered yet";
  #hasNoName = false;
  /** The incompatibility between the versions of agent and scheduler; null for none. */
  #unlike: string | null = null;

  constructor(deps: AgentDeps) {
    this.#deps = deps;
    this.#changed = new WakeSignal(deps.clock);
    this.#forgot = new WakeSignal(deps.clock);
    this.#host = new HostWatch(deps, () => this.#runs.values(), this.#changed.wake);
    this.#uptime = new Uptime(deps.folder, () => deps.clock.monotonicMs());
    const [runs, uptime, { events }] = [this.#runs, this.#uptime, deps];
    this.#remains = { runs, uptime, events, lost: new LostLaunches(uptime, events, deps.clock) };
    this.#runsFolder = makeFolder(join(deps.folder, names.runs));
    this.#unread = new UnreadRuns((path) => this.#adopt(path), events, deps.offer);
    this.#epochs = new SchedulerEpochs(deps.folder, deps.events);
  }

  /** Null once the scheduler has answered this start, which it does after registering the agent under its name. */
  get problem(): string | null {
    return this.#problem;
  }

  get hostFacts(): HostFacts {
    const undelivered = () => this.#undelivered.total;
    return { folder: this.#deps.folder, undelivered, spools: () => spoolsOf(this.#runs.values()) };
  }

  async start(): Promise<void> {
    const { bus, identity, events } = this.#deps;
    for (const name of readdirSync(this.#runsFolder)) {
      this.#unread.read(join(this.#runsFolder, name));
    }
    events.adopted(this.#runs.size);
    const loops = Promise.all([
      this.#reportLoop(),
      this.#cleanUpLoop(),
      this.#host.loop(this.#stopping.signal),
      this.#orphanLoop(),
      watchIdle(this.#deps, () => this.#runs.values(), this.#stopping.signal),
      checkStored(
        { ...this.#deps, epochs: this.#epochs },
        () => this.#runs.values(),
        this.#stopping.signal,
      ),
    ]);
    this.#stack.defer(async () => {
      await loops;
    });
    this.#stack.use(bus.onConnection(this.#changed.wake));
    this.#stack.use(
      await bus.subscribe(agentDoSubject(identity.name), ({ body }) => this.#hear(body)),
    );
  }

  /** Stops the agent; its runs continue. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#runs.values()].map((run) => run[Symbol.asyncDispose]()));
    await this.#stack.disposeAsync();
  }

  /**
   * Ends all runs, and reports their ends. Runs that use the SDK are first asked to stop and get time for a checkpoint;
   * then they get SIGTERM, as others do at once, and finally SIGKILL. No run is launched after this call.
   */
  async shutDown(): Promise<void> {
    this.#isShuttingDown = true;
    const running = [...this.#runs.values()].filter((run) => !run.isEnded);
    this.#deps.events.shuttingDown(running.length);
    for (const run of running) run.shutDown();
    const { clock } = this.#deps;
    const { stopGraceMs, shutdownGraceMs, shutdownTellMs } = limits;
    const deadlineMs = clock.monotonicMs() + stopGraceMs + shutdownGraceMs + shutdownTellMs;
    while (running.some((run) => !run.isDelivered) && clock.monotonicMs() < deadlineMs) {
      await pause(clock, limits.lookMs / 10);
    }
    this.#publish();
  }

  #adopt(path: string): void {
    const folder = RunFolder.open(path, this.#deps.clock);
    if (folder === null) this.#remains.lost.notice(path);
    else this.#hold(folder);
  }

  #hold(folder: RunFolder): void {
    const { identity } = this.#deps;
    const own = { agent: identity.name, epochs: this.#epochs, onChange: this.#changed.wake };
    const deps = { ...this.#deps, ...own };
    const run = new Run(folder, deps);
    this.#runs.set(folder.key, run);
    run.start();
  }

  #hear(body: Uint8Array): void {
    try {
      this.#process(wanteds.decode(utf8.decode(body)));
    } catch (error) {
      // The list is not echoed, so the scheduler sends it again with the next beat.
      this.#deps.events.wantedFailed(error);
    }
  }

  #process(wanted: Plain<Wanted>): void {
    const { epoch, version, incarnation, nameTaken } = wanted;
    if (incarnation !== this.#incarnation || this.#stopping.signal.aborted) return;
    if (!Number.isSafeInteger(epoch) || epoch < this.#epochs.highest) return this.#tellEpoch(epoch);
    if (nameTaken === undefined && epoch === this.#epoch && version < this.#version) {
      this.#deps.events.staleWanted(epoch, version);
      return;
    }
    this.#epochs.raise(epoch);
    if (nameTaken !== undefined) return this.#doWithoutName(wanted, nameTaken);
    this.#compare(wanted);
    if (this.#hasNoName) this.#deps.events.nameHeld();
    this.#hasNoName = false;
    this.#problem = this.#unlike;
    this.#probe = wanted.probe;
    // A host that shuts down launches nothing; without an echo the scheduler repeats the list, for the next start.
    if (this.#isShuttingDown) return;
    this.#endAndForget(wanted);
    for (const { state, launch } of wanted.allocations) {
      if (state !== WantedState.RUN || launch === undefined || this.#has(launch)) continue;
      this.#launch(launch);
    }
    this.#epoch = epoch;
    this.#version = version;
    this.#publish();
  }

  /**
   * Runs continue with a scheduler of any version, and a launch is accepted: the scheduler decides whether it may send
   * one.
   */
  #compare(wanted: Plain<Wanted>): void {
    const problem = protocolProblem(spokenProtocol, wanted);
    if (problem !== null && problem !== this.#unlike) this.#deps.events.protocolDiffers(problem);
    this.#unlike = problem;
  }

  #has(launch: Plain<Launch>): boolean {
    const all = [this.#runs, this.#refused, this.#unread];
    return all.some((held) => held.has(runKeyOf(launch)));
  }

  #launch(launch: Plain<Launch>): void {
    try {
      const owner = this.#deps.users.ownerFor(launch);
      this.#hold(RunFolder.create(this.#runsFolder, launch, this.#deps.clock, owner));
    } catch (error) {
      this.#deps.events.notLaunched(launch.allocation, error);
      const refusal = refusalOf(this.#deps.identity.name, launch, textOf(error));
      this.#refused.set(runKeyOf(launch), refusal);
    }
  }

  #endAndForget({ allocations, forget }: Plain<Wanted>): void {
    for (const wanted of allocations) {
      if (wanted.state === WantedState.KILL) this.#with(wanted, (run) => run.kill("wanted"));
      if (wanted.state === WantedState.STOP) this.#with(wanted, (run) => run.askToEnd());
    }
    for (const named of forget) {
      this.#refused.delete(runKeyOf(named));
      this.#with(named, (run) => this.#forget(run));
    }
  }

  /** A failure of one run must not prevent the agent's work for others. */
  #with(named: RequestedRun, act: (run: Run) => void): void {
    try {
      const run = this.#runs.get(runKeyOf(named));
      if (run !== undefined) act(run);
    } catch (error) {
      this.#deps.events.runFailed(named.allocation, error);
    }
  }

  /**
   * Handles a list while another agent has the name: nothing is launched or echoed, and running runs are ended as the
   * list says.
   */
  #doWithoutName(wanted: Plain<Wanted>, why: string): void {
    if (!this.#hasNoName) this.#deps.events.nameTaken(why);
    this.#hasNoName = true;
    this.#problem = `name_taken: ${why}`;
    this.#endAndForget(wanted);
  }

  /** Every report contains the highest epoch, so that the scheduler can exceed it. */
  #tellEpoch(epoch: number): void {
    this.#deps.events.olderEpoch(epoch, this.#epochs.highest);
    if (this.#problem === null) return;
    this.#problem = `the scheduler counts from epoch ${epoch} and this agent has seen ${this.#epochs.highest}: the agent reports that to it`;
  }

  #forget(run: Run): void {
    if (!run.isEnded || run.folder.forgotten !== null) return;
    run.folder.recordForgotten(this.#uptime.ms);
    this.#forgot.wake();
    this.#deps.events.forgotten(run.allocation);
  }

  async #reportLoop(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      this.#publish();
      await this.#changed.wait(limits.beatMs, signal);
    }
  }

  #publish(): void {
    const { identity, offer, bus, events, clock } = this.#deps;
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
      slots: offer.slots,
      labels: { ...identity.labels },
      agentVersion: identity.version,
      ...spokenProtocol,
      address: identity.address,
      processGroups: identity.processGroups,
      ...(identity.engine === undefined ? {} : { engine: identity.engine }),
      ...(identity.runsAsRoot === undefined ? {} : { runsAsRoot: true }),
      diskFreeBytes: freeBytes(this.#deps.folder),
      notices: [...this.#host.notices],
      highestEpoch: this.#epochs.highest,
      folder: identity.folder,
      place: identity.place,
      startedMs: identity.startedMs,
      allocations: [
        ...told.map((run) => run.report()),
        ...this.#refused.values(),
        ...this.#unread.reports(),
      ],
      // After the reports, which read the checkpoints of their runs.
      ...this.#undelivered.count(this.#runs.values(), clock.monotonicMs()),
    };
    const messages = reportMessages(report, limits.reportPartBytesMax);
    if (messages.length > 1) events.reportInParts(messages.length);
    for (const message of messages) bus.publish(agentReportSubject(identity.name), message);
  }

  /** Removes what ended runs left in the runtime, for which no supervisor or agent is left. */
  async #orphanLoop(): Promise<void> {
    const { clock, runtime, events } = this.#deps;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const running = (): ReadonlySet<string> => {
        const runs = [...this.#runs.values()].filter((run) => !run.isEnded);
        return new Set([...runs.map(({ folder }) => folder.key), ...this.#unread.keys()]);
      };
      await runtime.sweep(running).catch(events.sweepFailed);
      this.#unread.readAgain();
      await pause(clock, limits.orphansMs, signal);
    }
  }

  async #cleanUpLoop(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        for (const { folder } of this.#runs.values()) folder.writeHeld();
        await this.cleanUp();
        await this.#deps.contexts.cleanUp();
        this.#uptime.save();
      } catch (error) {
        this.#deps.events.cleanUpFailed(error);
      }
      await this.#forgot.wait(limits.cleanUpMs, signal);
    }
  }

  /** Clean-ups run one at a time, since each counts the folders. */
  async cleanUp(): Promise<void> {
    const cleanUp = (): Promise<void> => cleanUpForgotten(this.#remains, this.#stopping.signal);
    this.#cleaning = this.#cleaning.then(cleanUp, cleanUp);
    await this.#cleaning;
  }
}
