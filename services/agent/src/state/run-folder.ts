/** One run's folder, read and written by the agent (see layout.ts). */
import { existsSync, linkSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codecOf, type Plain } from "@trainyard/contracts";
import { type Launch, LaunchSchema, runKeyOf } from "@trainyard/contracts/agent";
import { recordedTask } from "@trainyard/experiment-config/recorded";
import { type Clock, storableText } from "@trainyard/kernel";
import {
  type ExitRecord,
  exitMessageCharsMax,
  type KillRecord,
  type NoticeRecord,
  type StopRecord,
  type TaskEndRecord,
} from "../core/records.ts";
import { limits } from "../limits.ts";
import {
  flushRecord,
  folderNameOf,
  isDiskFull,
  layoutVersion,
  makeFolder,
  names,
  readRecord,
  reserveRecord,
  writeRecord,
} from "./layout.ts";
import { type LastWord, lastValidationIn, lastWordIn, lastWordOfTask } from "./last-word.ts";
import { OutputWriter, outputSource } from "./output-writer.ts";
import { writeRunFile } from "./run-file.ts";
import { removeOtherFoldersOf, removeWorkOf } from "./remove-run.ts";
import { give, giveFolders, letPass, ownerOfFolder, variablesOf } from "./run-folders.ts";
import type { Owner } from "./run-user.ts";
import type { ProcessIdentity } from "@trainyard/kernel/process-identity";
import { type GroupRecord, type RunGroup, runGroupOf } from "./run-group.ts";

type Spec = { readonly version: number; readonly launch: object };

const launches = codecOf<Plain<Launch>>(LaunchSchema);

const reservedNames = [names.process, names.kill, names.exit, names.shipped];

/** A claim for which no process is ever started. */
const claimOfNobody = `${JSON.stringify({ pid: 0, started: "", boot: "" })}\n`;

/** The record that the scheduler knows the run's end, with the agents' uptime. */
export type Forgotten = { readonly atMs: number; readonly upMs: number };

/** The record of the save after the end of a task's processes. */
export type WorkEnd = {
  /** The sentence why the folder is not saved, and where it is; empty if it is saved. */
  readonly unsaved: string;
  /** The save that was made then, or before if nothing had changed; empty if there is none. */
  readonly checkpoint: string;
};

export type Delivered = "delivered" | "refused" | "given_up";

const harshness: readonly KillRecord["why"][] = ["asked", "ended", "shutdown", "wanted"];

export class RunFolder {
  readonly path: string;
  readonly runDir: string;
  readonly work: string;
  readonly launch: Plain<Launch>;
  /** Whether the run is of a task whose folder is saved. */
  readonly keepsWork: boolean;
  /** Records that did not fit on a full disk. They count as written, and are written once the disk has room. */
  readonly #held = new Map<string, object>();
  #againMs = 0;
  #forgotten: { readonly record: Forgotten | null } | null = null;
  /** True if the folder may contain unpacked code. */
  #hasWork = true;
  readonly #clock: Clock;

  private constructor(path: string, launch: Plain<Launch>, clock: Clock) {
    this.#clock = clock;
    this.path = path;
    this.runDir = join(path, names.run);
    this.work = join(path, names.work);
    this.launch = launch;
    const { task, config } = launch;
    this.keepsWork = task !== undefined && recordedTask(JSON.parse(config), task.kind).keepsWork;
  }

  /** With an owner, the run's processes start as that user. */
  static create(
    runs: string,
    launch: Plain<Launch>,
    clock: Clock,
    owner: Owner | null = null,
  ): RunFolder {
    const path = makeFolder(join(runs, folderNameOf(launch)));
    const folder = new RunFolder(path, launch, clock);
    try {
      makeFolder(folder.runDir);
      if (folder.keepsWork) makeFolder(folder.saves);
      if (owner !== null) giveFolders(path, owner);
      makeFolder(join(path, names.output));
      for (const name of reservedNames) reserveRecord(path, name);
      writeFileSync(folder.#claimDraft, claimOfNobody, { mode: 0o600 });
      writeRecord(path, names.spec, { version: layoutVersion, launch: launches.toJson(launch) });
      // A busy disk takes seconds, for which the agent does not wait: a run has nothing to deliver before.
      void flushRecord(path, names.spec);
      return folder;
    } catch (error) {
      // Files made from this record would use the little space that is left.
      folder.#removeOwn();
      throw error;
    }
  }

  /** Null for a folder without a recorded launch. */
  static open(path: string, clock: Clock): RunFolder | null {
    const spec = readRecord<Spec>(path, names.spec);
    if (spec === null) return null;
    return new RunFolder(path, launches.decode(JSON.stringify(spec.launch)), clock);
  }

  /** The folder of a task that keeps its work, once it is whole. */
  get kept(): string {
    return join(this.work, names.kept);
  }

  get saves(): string {
    return join(this.path, names.saves);
  }

  /**
   * The folder with the spool of the run's checkpoints. That of a task's saves is apart: the program that saves runs on
   * the host, and must not follow links that a container has left.
   */
  get sealing(): string {
    return this.keepsWork ? this.saves : this.runDir;
  }

  /** Null until the folder was saved, or could not be saved, after the end of the run's processes. */
  get workEnd(): WorkEnd | null {
    return this.#recorded(names.workEnd);
  }

  recordWorkEnd(end: WorkEnd): void {
    this.#record(names.workEnd, end);
  }

  /** The text that identifies the run among those of the agent. */
  get key(): string {
    return runKeyOf(this.launch);
  }

  get supervisor(): ProcessIdentity | null {
    return readRecord(this.path, names.supervisor);
  }

  get process(): ProcessIdentity | null {
    return readRecord(this.path, names.process);
  }

  /** The group of the run's processes. A run without the record has not started. */
  get group(): RunGroup {
    const record = readRecord<GroupRecord>(this.path, names.group);
    return runGroupOf(this.runDir, () => this.process, record);
  }

  get stop(): StopRecord | null {
    return this.#recorded(names.stop);
  }

  /** True for a run of a task: a command or a shell. It reports neither points nor checkpoints. */
  get isTask(): boolean {
    return this.launch.task !== undefined;
  }

  /** True if the script has opened the run with the SDK, which polls for a request to stop. */
  get usesSdk(): boolean {
    return !this.isTask && existsSync(join(this.runDir, "spool"));
  }

  get kill(): KillRecord | null {
    return this.#recorded(names.kill);
  }

  get exit(): ExitRecord | null {
    return this.#recorded(names.exit);
  }

  get delivered(): { readonly reports: Delivered } | null {
    return this.#recorded(names.delivered);
  }

  /** Only the run's agent writes this file, and reads it for every report, so it is cached. */
  get forgotten(): Forgotten | null {
    this.#forgotten ??= { record: this.#recorded(names.forgotten) };
    return this.#forgotten.record;
  }

  /** The end record that the SDK wrote. For a task, which may be anything, the agent's own. */
  get lastWord(): LastWord {
    return this.isTask ? lastWordOfTask(this.#recorded(names.end)) : lastWordIn(this.runDir);
  }

  /** Whether the server of the task's page has answered. */
  get isReady(): boolean {
    return this.#recorded(names.ready) !== null;
  }

  recordReady(): void {
    this.#record(names.ready, { atMs: this.#clock.nowMs() });
  }

  /** Records why the agent ends the run of a task, before the kill. */
  recordTaskEnd(end: TaskEndRecord): void {
    this.#record(names.end, end);
  }

  get lastValidation(): string | null {
    return this.isTask ? "" : lastValidationIn(this.runDir);
  }

  /** Asks the script to stop by itself. A repeated request keeps the first time. False if a full disk prevents it. */
  askToStop(): boolean {
    const stop: StopRecord = this.stop ?? { why: "shutdown", atMs: this.#clock.nowMs() };
    this.#record(names.stop, stop);
    try {
      writeRunFile(this.runDir, names.stop, `${JSON.stringify(stop)}\n`);
      return true;
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      return false;
    }
  }

  /** `graceMs` is the time from SIGTERM to SIGKILL of a run that the agent ends. */
  recordKill(why: KillRecord["why"], graceMs?: number): void {
    const standing = this.kill;
    // Only a harsher record replaces the first one.
    if (standing === null || harshness.indexOf(why) > harshness.indexOf(standing.why)) {
      const grace = graceMs === undefined ? {} : { graceMs };
      this.#record(names.kill, { why, atMs: this.#clock.nowMs(), ...grace });
    }
  }

  /** Makes a record count from now on, and writes it at once, or as soon as the disk has room. */
  #record(name: string, record: object): void {
    this.#held.set(name, record);
    this.#againMs = 0;
    this.writeHeld();
  }

  /**
   * Writes the held records if the disk has room. Each attempt wakes the watchers of the folder, so it is made seldom.
   */
  writeHeld(): void {
    if (this.#held.size === 0 || this.#clock.monotonicMs() < this.#againMs) return;
    this.#againMs = this.#clock.monotonicMs() + limits.writeAgainMs;
    for (const [name, record] of this.#held) {
      try {
        writeRecord(this.path, name, record);
      } catch (error) {
        if (!isDiskFull(error)) throw error;
        return;
      }
      this.#held.delete(name);
    }
  }

  #recorded<T>(name: string): T | null {
    return (this.#held.get(name) as T | undefined) ?? readRecord<T>(this.path, name);
  }

  /** Messages of the agent to the run, which the supervisor writes as lines. */
  get notice(): NoticeRecord {
    return this.#recorded<NoticeRecord>(names.notice) ?? { text: "", said: [] };
  }

  recordNotice(notice: NoticeRecord): void {
    const isNew = JSON.stringify(notice) !== JSON.stringify(this.notice);
    if (isNew) this.#record(names.notice, notice);
  }

  recordExit(exit: Omit<ExitRecord, "atMs">): ExitRecord {
    const standing = this.exit;
    if (standing !== null) return standing;
    const message = storableText(exit.message, exitMessageCharsMax);
    const record = { ...exit, message, atMs: this.#clock.nowMs() };
    this.#record(names.exit, record);
    return record;
  }

  recordDelivered(reports: Delivered): void {
    this.#record(names.delivered, { reports });
  }

  recordForgotten(upMs: number): void {
    const record: Forgotten = { atMs: this.#clock.nowMs(), upMs };
    this.#forgotten = { record };
    this.#record(names.forgotten, record);
  }

  /** Makes sure that no supervisor can start the run; false if one has claimed it. */
  claimAsNeverStarted(): boolean {
    if (!existsSync(this.#claimDraft)) {
      writeFileSync(this.#claimDraft, claimOfNobody, { mode: 0o600 });
    }
    try {
      linkSync(this.#claimDraft, join(this.path, names.supervisor));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return this.supervisor?.pid === 0;
      throw error;
    }
  }

  /** This file exists from the start, so that on a full disk the agent can still end a run that it cannot start. */
  get #claimDraft(): string {
    return join(this.path, `.${names.supervisor}.agent.new`);
  }

  /** Writes a line of the agent; only while no supervisor writes. */
  say(said: string): void {
    const text = storableText(said, limits.saidCharsMax);
    try {
      const output = new OutputWriter(join(this.path, names.output), this.#clock);
      output.write([
        { source: outputSource.agent, atMs: this.#clock.nowMs(), text, continued: false },
      ]);
      output.close();
    } catch (error) {
      // A full disk may lose this line; the recorded exit contains the reason too.
      if (!isDiskFull(error)) throw error;
    }
  }

  /** The user of the run's processes; null for the agent's user. */
  get owner(): Owner | null {
    return ownerOfFolder(this.runDir);
  }

  /** The variables of the run's user; empty for a run without a user of its own. */
  get userVariables(): Readonly<Record<string, string>> {
    return this.owner === null
      ? {}
      : variablesOf(this.path, this.launch.task?.id ?? this.launch.experiment);
  }

  /**
   * Makes a new folder for each attempt, since a supervisor of an earlier agent may still start a process in the
   * previous one.
   */
  newWork(): string {
    this.#hasWork = true;
    makeFolder(this.work);
    if (this.owner !== null) letPass(this.work);
    const path = join(this.work, String(readdirSync(this.work).length + 1));
    mkdirSync(path, { mode: 0o700 });
    return path;
  }

  /** Gives the unpacked code to the run's user; until then only the agent can enter the folder. */
  giveWork(path: string): string {
    const { owner } = this;
    if (owner !== null) give(path, owner);
    return path;
  }

  /** Throws if the run has left files that its user cannot remove. */
  async removeWork(): Promise<void> {
    // This is called for each forgotten run whenever another is forgotten.
    if (!this.#hasWork) return;
    await removeWorkOf(this.path, this.owner);
    this.#hasWork = false;
  }

  /** Throws if the run has left files that its user cannot remove. */
  async remove(): Promise<void> {
    const { owner } = this;
    await this.removeWork();
    if (owner !== null) await removeOtherFoldersOf(this.path, owner);
    this.#removeOwn();
  }

  /** Removes the launch first, so that a half removed folder counts as none. */
  #removeOwn(): void {
    rmSync(join(this.path, names.spec), { force: true });
    rmSync(this.path, { recursive: true, force: true });
  }
}
