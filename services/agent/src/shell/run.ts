/**
 * One run on this host, from its launch or its adoption until nothing of it is left to report.
 *
 *   preparing → running → settling → ended, and when the scheduler has recorded the end, forgotten
 *
 * Invariants. The folder is the source of truth: all other state of this process can be rebuilt by the next one. The
 * run is started at most once, by the supervisor that claims it (supervisor.json). It is over only when exit.json says
 * so, and that is written only when none of its processes lives, by the supervisor or, if it is dead, by the agent.
 * While the run settles, the process's remaining reports are delivered and its last lines sent, each for a bounded
 * time, so that validations precede the end. The rest is sent later, even after a restart of the agent.
 */
import { join } from "node:path";
import type { Plain } from "@trainyard/contracts";
import { type AllocationReport, AllocationReportState } from "@trainyard/contracts/agent";
import { pause } from "@trainyard/kernel";
import { type EndRecords, noEnd, reportOf, type RunView } from "../core/exit.ts";
import type { ExitRecord, KillRecord, TaskEndRecord } from "../core/records.ts";
import { limits } from "../limits.ts";
import { names } from "../state/layout.ts";
import { isAlive } from "@trainyard/kernel/process-identity";
import type { RunFolder } from "../state/run-folder.ts";
import { SealedSpool } from "../state/sealed-spool.ts";
import { openStorages } from "./tensorboard-sync.ts";
import { endBeforeStart } from "./end-before-start.ts";
import { LaunchSpan } from "./launch-span.ts";
import { RunDeliveries } from "./run-deliveries.ts";
import type { RunDeps } from "./run-deps.ts";
import { howItEnded, RunEnding } from "./run-ending.ts";
import type { StartedSupervisor } from "./supervisors.ts";
import { openBoards } from "./task-boards.ts";
import { openRunTunnel } from "../tunnel/run-tunnel.ts";
import { unpackCode } from "./unpack-code.ts";
import { PageServer } from "../servers/page-server.ts";
import { RunIdle } from "../idle/run-idle.ts";
import { reachedBy } from "../idle/reached.ts";
import { WakeSignal } from "./wake-signal.ts";
import { watching } from "./watch-path.ts";
import { workFolder } from "./work-folder.ts";
import { WorkSaves } from "./work-saves.ts";

export class Run implements AsyncDisposable {
  readonly folder: RunFolder;
  readonly spool: SealedSpool;
  readonly idle: RunIdle;
  readonly #deps: RunDeps;
  readonly #stopping = new AbortController();
  readonly #killing = new AbortController();
  readonly #wake: WakeSignal;
  readonly #outputWake: WakeSignal;
  readonly #ending: RunEnding;
  readonly #page: PageServer;
  #state: AllocationReportState = AllocationReportState.PREPARING;
  #pid = 0;
  /** The number of code pieces unpacked so far. */
  #pieces = 0;
  #isDelivered = false;
  /** The run's records once it has ended, after which they do not change. */
  #ended: EndRecords | null = null;
  #named: RunView["sealed"] = undefined;
  #driven: Promise<void> = Promise.resolve();
  readonly #launching: LaunchSpan;

  constructor(folder: RunFolder, deps: RunDeps) {
    this.folder = folder;
    this.#deps = deps;
    this.#launching = new LaunchSpan(folder.launch, deps.tracer);
    this.#wake = new WakeSignal(deps.clock);
    this.#outputWake = new WakeSignal(deps.clock);
    this.spool = new SealedSpool(folder.sealing, folder.isTask && !folder.keepsWork);
    this.#ending = new RunEnding(folder, deps.clock, (left) => {
      deps.events.left(this.allocation, left);
      deps.onChange();
    });
    this.idle = new RunIdle(this);
    if (folder.kill !== null) this.#killing.abort();
    this.#page = new PageServer({
      ...{ folder, packages: deps.packages, clock: deps.clock },
      note: (line) => this.tell([line]),
      fail: (message) => this.end({ reason: "error", message }, limits.shutdownGraceMs),
    });
    this.#see();
  }

  get allocation(): string {
    return this.folder.launch.allocation;
  }

  get isRunning(): boolean {
    return this.#state === AllocationReportState.RUNNING;
  }

  get isEnded(): boolean {
    return this.#state === AllocationReportState.ENDED;
  }

  /** True if no line, report or checkpoint of the run is left to deliver. */
  get isDelivered(): boolean {
    return this.#isDelivered;
  }

  /** True if a checkpoint of the run is here that the platform has not completed. An unreadable spool may have one. */
  get holdsCheckpoints(): boolean {
    try {
      return this.spool.sealed().length > 0;
    } catch (error) {
      this.#deps.events.checkpointsFailed(this.allocation, error);
      return true;
    }
  }

  report(): Plain<AllocationReport> {
    const { launch, owner } = this.folder;
    const told = { launch, owner, state: this.#state, pid: this.#pid, sealed: this.#sealed() };
    if (!this.isEnded) {
      const { kill } = this.folder;
      const report = reportOf(this.#deps.agent, { ...told, ...noEnd, kill });
      const { pieces, waits } = this.#deps.contexts.progressOf(launch.contextDigest);
      const isFetched = this.#pieces > 0 || this.#state !== AllocationReportState.PREPARING;
      const progress = pieces + this.#pieces + this.#page.progress;
      const waitsForPlatform = waits && !isFetched;
      return { ...report, left: this.#ending.left, progress, waitsForPlatform };
    }
    this.#ended ??= this.#endRecords();
    return reportOf(this.#deps.agent, { ...told, ...this.#ended });
  }

  /**
   * Returns the checkpoints of a run that is over for the scheduler that are under way to a storage: undelivered, or
   * offered again. `look` reads them from the disk.
   */
  undelivered(look: boolean): RunView["sealed"] {
    const isOver = this.isEnded || this.folder.forgotten !== null;
    if (!isOver) return undefined;
    if (this.#isDelivered) return this.spool.offered();
    if (look) this.#sealed();
    return this.spool.underWay();
  }

  /** The stored checkpoints that the platform has not completed; the last known ones if the spool is unreadable. */
  #sealed(): RunView["sealed"] {
    try {
      this.#named = this.spool.named();
    } catch (error) {
      this.#deps.events.checkpointsFailed(this.allocation, error);
    }
    return this.#named;
  }

  #endRecords(): EndRecords {
    const { stop, kill, exit, lastWord, lastValidation } = this.folder;
    const notice = this.folder.notice.text;
    if (lastWord.problem !== "") {
      this.#deps.events.lastWordUnread(this.allocation, lastWord.problem);
    }
    const unsaved = this.folder.workEnd?.unsaved ?? "";
    return { stop, kill, exit, lastWord, notice, lastValidation, unsaved };
  }

  start(): void {
    this.#driven = this.#drive();
  }

  /** Ends the run of a task with a record of the reason: by SIGTERM, and by SIGKILL after the time. */
  end(record: TaskEndRecord, graceMs: number): void {
    if (this.folder.kill !== null || this.isEnded || this.folder.exit !== null) return;
    this.tell([record.message]);
    this.folder.recordTaskEnd(record);
    this.kill("ended", graceMs);
  }

  kill(why: KillRecord["why"], graceMs?: number): void {
    if (this.isEnded || this.folder.exit !== null) return;
    if (this.folder.kill?.why !== why) {
      this.folder.recordKill(why, graceMs);
      this.#deps.events.killed(this.allocation, why);
    }
    this.#killing.abort();
    this.#wake.wake();
  }

  /** Asks a run that does not use the SDK to end, by SIGTERM; the SDK asks the gateway whether to stop. */
  askToEnd(): void {
    if (this.folder.kill === null && !this.folder.usesSdk) this.kill("asked");
  }

  /** Writes lines to the run's log, and which of its slots the agent does not offer any more. */
  tell(seen: readonly string[]): void {
    if (this.isEnded || this.folder.exit !== null) return;
    const said = [...new Set([...this.folder.notice.said, ...seen])].slice(0, limits.noticesMax);
    this.folder.recordNotice({
      text: this.#deps.offer.problemsOf(this.folder.launch.slots),
      said,
    });
  }

  /** The living processes of the run. */
  get pids(): ReadonlySet<number> {
    return this.#ending.pids;
  }

  /** Ends the run because the host is shut down: by a request if it uses the SDK, else by a signal. */
  shutDown(): void {
    if (this.isEnded || this.folder.exit !== null) return;
    const canBeAsked = this.folder.process !== null && this.folder.usesSdk;
    if (!canBeAsked || !this.folder.askToStop()) return this.kill("shutdown");
    this.#deps.events.askedToStop(this.allocation);
    this.#wake.wake();
  }

  /** Stops handling the run; its processes continue. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#driven;
  }

  async #drive(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.#driveOnce(signal);
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.#deps.events.runFailed(this.allocation, error);
        await pause(this.#deps.clock, limits.retry.lastMs, signal);
      }
    }
  }

  async #driveOnce(stopping: AbortSignal): Promise<void> {
    const attempt = new AbortController();
    const signal = AbortSignal.any([stopping, attempt.signal]);
    const { path } = this.folder;
    using _folder = watching(path, this.#wake.wake);
    using _output = watching(join(path, names.output), this.#outputWake.wake);
    using _screens = this.folder.isTask ? this.#deps.screens.follow(this.folder.runDir) : null;
    using _boards = openBoards({ ...this.#deps, run: this });
    const run = { folder: this.folder, launching: this.#launching };
    const left = { ...run, wake: this.#outputWake, spool: this.spool };
    const note = (line: string): void => this.tell([line]);
    await using saves = new WorkSaves({ ...this.#deps, ...left, note }, signal);
    using _tunnel = openRunTunnel({ ...this.#deps, ...reachedBy(this, saves) });
    const onDelivered = (): void => saves.checkRefused();
    const deliveries = new RunDeliveries({ ...this.#deps, ...left, onDelivered }, signal);
    try {
      void this.#page
        .follow(() => this.#see(), signal)
        .catch((error: unknown) => {
          this.#deps.events.runFailed(this.allocation, error);
        });
      using started = this.folder.supervisor === null ? await this.#prepare(signal) : null;
      const exit = await this.#untilExit(started, signal);
      if (exit === null) return;
      this.#outputWake.wake();
      for (const line of await saves.finish()) deliveries.tell(line);
      await this.#settle(exit, deliveries, signal);
      await saves.removeDelivered();
    } finally {
      attempt.abort();
      await deliveries.ended();
    }
  }

  /** Starts the supervisor while the code is downloaded; null if the run ended before its start. */
  async #prepare(signal: AbortSignal): Promise<StartedSupervisor | null> {
    if (this.folder.exit !== null) return null;
    const { launch, path } = this.folder;
    this.#deps.events.launching(this.allocation);
    this.#launching.begin();
    let supervisor: StartedSupervisor | null = null;
    try {
      supervisor = this.#deps.supervisors.start(path, this.#wake.wake);
      const preparing = AbortSignal.any([signal, this.#killing.signal]);
      const work = await this.#unpack(preparing);
      // Throws if a device has disappeared since the run was placed: the run would silently train on the CPU.
      const slots = this.#deps.offer.slotsOf(launch.slots);
      const onProgress = (): void => void (this.#pieces += 1);
      const storages = await openStorages(this.folder, this.#deps, preparing);
      const hostSlots = this.#deps.offer.slots.length;
      const launching = { folder: this.folder, work, slots, hostSlots, storages, onProgress };
      const order = await this.#deps.runtime.order(launching, preparing);
      if (preparing.aborted) throw new Error("the run was killed before its start");
      supervisor.order(order);
      return supervisor;
    } catch (error) {
      this.#launching.end({ error });
      supervisor?.[Symbol.dispose]();
      const { aborted: isKilled } = this.#killing.signal;
      if (!signal.aborted) await endBeforeStart(this.folder, error, isKilled, this.#deps.events);
      return null;
    }
  }

  /** Returns the folder in which the run starts, with the unpacked code, or with the last save of a task. */
  async #unpack(signal: AbortSignal): Promise<string> {
    const onProgress = (): void => void (this.#pieces += 1);
    // The supervisor writes no line before its order.
    const onWait = (sentence: string): void => this.folder.say(sentence);
    const unpack = () => unpackCode(this.folder, this.#deps.contexts, onProgress, onWait, signal);
    if (!this.folder.keepsWork) return unpack();
    return workFolder(this.folder, this.#deps, unpack, onProgress, signal);
  }

  /** Waits for the run's exit; null when the agent stops first. */
  async #untilExit(
    started: StartedSupervisor | null,
    signal: AbortSignal,
  ): Promise<ExitRecord | null> {
    while (!signal.aborted) {
      this.folder.writeHeld();
      const exit = this.folder.exit;
      if (exit !== null) return exit;
      this.#see();
      this.#endGrace();
      if (this.#killing.signal.aborted) this.#ending.signal();
      this.#ending.look();
      if (this.#isSupervisorGone(started)) {
        const lost = await this.#endOrphans(signal);
        if (lost !== null) return lost;
      }
      await this.#wake.wait(limits.lookMs, signal);
    }
    return null;
  }

  /** Ends a run whose grace period is over, whether this agent or an earlier one asked it to stop. */
  #endGrace(): void {
    const { stop, kill } = this.folder;
    if (stop === null || kill !== null) return;
    if (this.#deps.clock.nowMs() - stop.atMs >= limits.stopGraceMs) this.kill("shutdown");
  }

  #isSupervisorGone(started: StartedSupervisor | null): boolean {
    const { supervisor } = this.folder;
    if (supervisor !== null) return !isAlive(supervisor);
    return started?.isRunning !== true;
  }

  /** The run's supervisor is dead, so the agent ends the run and records its end. */
  async #endOrphans(signal: AbortSignal): Promise<ExitRecord | null> {
    // A supervisor that died before its claim has started no process.
    if (this.folder.supervisor === null && !this.folder.claimAsNeverStarted()) return null;
    const orphans = await this.#ending.endOrphans(signal);
    if (orphans === null) return null;
    // The supervisor may have recorded the exit just before it died.
    if (this.folder.exit !== null) return this.folder.exit;
    const never = this.folder.supervisor?.pid === 0;
    const message = howItEnded(orphans, never);
    this.folder.say(message);
    if (orphans.remains !== "") this.folder.say(orphans.remains);
    const kind = !never ? "lost" : this.#killing.signal.aborted ? "never_started" : "not_launched";
    return this.folder.recordExit({ kind, code: null, signal: null, message });
  }

  /** Reads the state of the run's process from its folder. */
  #see(): void {
    const leader = this.folder.process;
    if (leader === null || this.isRunning || this.isEnded) return;
    this.#pid = leader.pid;
    if (!this.#page.isReady) return;
    this.#state = AllocationReportState.RUNNING;
    this.#launching.end();
    if (this.folder.exit === null) this.#deps.events.running(this.allocation, leader.pid);
    this.#deps.onChange();
  }

  async #settle(exit: ExitRecord, deliveries: RunDeliveries, signal: AbortSignal): Promise<void> {
    this.#see();
    await deliveries.beforeEnd(exit);
    if (signal.aborted) return;
    const isNews = !this.isEnded && this.folder.forgotten === null;
    this.#state = AllocationReportState.ENDED;
    if (isNews) this.#deps.events.ended(this.allocation, exit);
    this.#deps.onChange();
    await deliveries.ended();
    this.#isDelivered = !signal.aborted;
    this.#deps.onChange();
  }
}
