/** One run's folder, read and written by the agent (see layout.ts). */
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { codecOf, type Plain } from "@trainyard/contracts";
import {
  type EndRecord,
  EndRecordSchema,
  type Launch,
  LaunchSchema,
} from "@trainyard/contracts/agent";
import { EndReason } from "@trainyard/contracts/events";
import { type Clock, storableText } from "@trainyard/kernel";
import {
  type ExitRecord,
  exitMessageCharsMax,
  type KillRecord,
  type NoticeRecord,
  type StopRecord,
} from "../core/records.ts";
import { limits } from "../limits.ts";
import {
  folderNameOf,
  isDiskFull,
  layoutVersion,
  makeFolder,
  names,
  readRecord,
  reserveRecord,
  writeRecord,
} from "./layout.ts";
import { OutputWriter, outputSource } from "./output-writer.ts";
import { readRunFile, writeRunFile } from "./run-file.ts";
import { removeAs } from "../users/remove-as.ts";
import { give, giveFolders, letPass, ownerOfFolder, variablesOf } from "../users/run-folders.ts";
import type { Owner } from "../users/run-user.ts";
import type { ProcessIdentity } from "@trainyard/kernel/process-identity";
import { type GroupRecord, type RunGroup, runGroupOf } from "./run-group.ts";

type Spec = { readonly version: number; readonly launch: object };

const launches = codecOf<Plain<Launch>>(LaunchSchema);
const endRecords = codecOf<Plain<EndRecord>>(EndRecordSchema);

const reservedNames = [names.process, names.kill, names.exit, names.shipped];

/** A claim in whose name nothing is ever started. */
const claimOfNobody = `${JSON.stringify({ pid: 0, started: "", boot: "" })}\n`;

/**
 * That the scheduler has recorded its end, and how long agents had been up on this folder; not known of an older agent.
 */
export type Forgotten = { readonly atMs: number; readonly upMs?: number };

export type Delivered = "delivered" | "refused" | "given_up";

export type LastWord = {
  readonly endRecord: Plain<EndRecord> | null;
  /** Why there is none although there is a file; a sentence without its end, or nothing. */
  readonly problem: string;
};

const endReasons: readonly EndReason[] = [
  EndReason.FINISHED,
  EndReason.ACKNOWLEDGED_STOP,
  EndReason.INVALID_HYPERPARAMETERS,
  EndReason.ERROR,
];

function endRecordOf(text: string): Plain<EndRecord> | null {
  try {
    const said = endRecords.decode(text);
    // A number would pass for a reason that this version does not know.
    if (!endReasons.includes(said.reason)) return null;
    return { ...said, message: storableText(said.message, limits.endMessageCharsMax) };
  } catch {
    return null;
  }
}

export class RunFolder {
  readonly path: string;
  readonly runDir: string;
  readonly work: string;
  readonly launch: Plain<Launch>;
  /** Records that a full disk did not take. They count all the same, and are written once there is room. */
  readonly #held = new Map<string, object>();
  #againMs = 0;
  #forgotten: { readonly record: Forgotten | null } | null = null;
  /** Whether there may be unpacked code. */
  #hasWork = true;
  readonly #clock: Clock;

  private constructor(path: string, launch: Plain<Launch>, clock: Clock) {
    this.#clock = clock;
    this.path = path;
    this.runDir = join(path, names.run);
    this.work = join(path, names.work);
    this.launch = launch;
  }

  /** With an owner its processes start as that user. */
  static create(
    runs: string,
    launch: Plain<Launch>,
    clock: Clock,
    owner: Owner | null = null,
  ): RunFolder {
    const path = makeFolder(join(runs, folderNameOf(launch.allocation)));
    const folder = new RunFolder(path, launch, clock);
    try {
      makeFolder(folder.runDir);
      if (owner !== null) giveFolders(path, owner);
      makeFolder(join(path, names.output));
      for (const name of reservedNames) reserveRecord(path, name);
      writeFileSync(folder.#claimDraft, claimOfNobody, { mode: 0o600 });
      writeRecord(path, names.spec, { version: layoutVersion, launch: launches.toJson(launch) });
      return folder;
    } catch (error) {
      // Files made of it would take the little room that there is.
      folder.#removeOwn();
      throw error;
    }
  }

  /** Null for a folder whose run was never recorded. */
  static open(path: string, clock: Clock): RunFolder | null {
    const spec = readRecord<Spec>(path, names.spec);
    if (spec === null) return null;
    return new RunFolder(path, launches.decode(JSON.stringify(spec.launch)), clock);
  }

  get supervisor(): ProcessIdentity | null {
    return readRecord(this.path, names.supervisor);
  }

  get process(): ProcessIdentity | null {
    return readRecord(this.path, names.process);
  }

  /** All processes of the run. A run without the record was started by an older agent. */
  get group(): RunGroup {
    const record = readRecord<GroupRecord>(this.path, names.group) ?? { mechanism: "scan" };
    return runGroupOf(this.runDir, () => this.process, record);
  }

  get stop(): StopRecord | null {
    return this.#recorded(names.stop);
  }

  /** Whether its script has opened the run with the SDK, and so looks for a request to stop. */
  get usesSdk(): boolean {
    return existsSync(join(this.runDir, "spool"));
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

  /** Written by its agent only, which asks for it at every report: so the file is read once. */
  get forgotten(): Forgotten | null {
    this.#forgotten ??= { record: this.#recorded(names.forgotten) };
    return this.#forgotten.record;
  }

  /**
   * The SDK's last word. The file is the user's to write over: where it cannot be read the exit code says all there is.
   */
  get lastWord(): LastWord {
    const written = readRunFile(this.runDir, "end.json", limits.endRecordBytesMax);
    if (written === null) return { endRecord: null, problem: "" };
    if (typeof written === "number") {
      const problem = `its end.json has ${written} bytes and may have ${limits.endRecordBytesMax}, so it was not read`;
      return { endRecord: null, problem };
    }
    return { endRecord: endRecordOf(written.toString("utf8")), problem: "" };
  }

  /** Asks the script to stop by itself. The first moment counts. False where a full disk does not take the question. */
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

  recordKill(why: KillRecord["why"]): void {
    const standing = this.kill;
    // A request of the scheduler replaces a shutdown; otherwise the first record is kept.
    if (standing === null || (standing.why === "shutdown" && why === "wanted")) {
      this.#record(names.kill, { why, atMs: this.#clock.nowMs() });
    }
  }

  /** A record counts from now on, and is written at once, or as soon as there is room. */
  #record(name: string, record: object): void {
    this.#held.set(name, record);
    this.#againMs = 0;
    this.writeHeld();
  }

  /**
   * Writes what the disk had no room for, if it has now. A try wakes the watchers of the folder, so it is done seldom.
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

  /** The agent's message to the run, which the supervisor writes as a line; empty for none any more. */
  get notice(): string {
    return this.#recorded<NoticeRecord>(names.notice)?.text ?? "";
  }

  recordNotice(text: string): void {
    if (text !== this.notice) this.#record(names.notice, { text } satisfies NoticeRecord);
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

  /** Makes sure that no supervisor will start it any more; false when one has claimed it. */
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

  /** There from the start, so that a full disk does not keep the agent from ending what it cannot start. */
  get #claimDraft(): string {
    return join(this.path, `.${names.supervisor}.agent.new`);
  }

  /** A line of the agent's own; only while no supervisor writes. */
  say(said: string): void {
    const text = storableText(said, limits.saidCharsMax);
    try {
      const output = new OutputWriter(join(this.path, names.output), this.#clock);
      output.write([
        { source: outputSource.agent, atMs: this.#clock.nowMs(), text, continued: false },
      ]);
      output.close();
    } catch (error) {
      // A full disk may lose this line: the recorded exit has the reason too.
      if (!isDiskFull(error)) throw error;
    }
  }

  /** The user of its processes; null for the agent's own. */
  get owner(): Owner | null {
    return ownerOfFolder(this.runDir);
  }

  /** The variables that are its user's; none of a run without one. */
  get userVariables(): Readonly<Record<string, string>> {
    return this.owner === null ? {} : variablesOf(this.path, this.launch.experiment);
  }

  /** A new one for each attempt: a supervisor of an earlier agent may yet start the process in the one before. */
  newWork(): string {
    this.#hasWork = true;
    makeFolder(this.work);
    if (this.owner !== null) letPass(this.work);
    const path = join(this.work, String(readdirSync(this.work).length + 1));
    mkdirSync(path, { mode: 0o700 });
    return path;
  }

  /** Makes the code the run's, once all of it is there: before that nobody else gets into its folder. */
  giveWork(path: string): string {
    const { owner } = this;
    if (owner !== null) give(path, owner);
    return path;
  }

  /** Throws where the run has left what its user cannot remove. */
  async removeWork(): Promise<void> {
    // Asked of each forgotten run whenever another is forgotten.
    if (!this.#hasWork) return;
    const { owner } = this;
    if (owner !== null && existsSync(this.work)) {
      // A folder that was not handed over is the agent's still: nobody else has been in it.
      const given = readdirSync(this.work).map((name) => join(this.work, name));
      for (const path of given) if (lstatSync(path).uid === owner.uid) await removeAs(owner, path);
    }
    await rm(this.work, { recursive: true, force: true });
    this.#hasWork = false;
  }

  /** Throws where the run has left what its user cannot remove. */
  async remove(): Promise<void> {
    const { owner } = this;
    await this.removeWork();
    if (owner !== null) {
      for (const name of [names.home, names.tmp, names.run]) {
        await removeAs(owner, join(this.path, name));
      }
    }
    this.#removeOwn();
  }

  /** First what makes it a run, so that one that is half removed is nothing. */
  #removeOwn(): void {
    rmSync(join(this.path, names.spec), { force: true });
    rmSync(this.path, { recursive: true, force: true });
  }
}
