/**
 * Saves the folder of a task's run: now and then while it runs, and once its processes are gone. A save is sealed as a
 * checkpoint of the SDK is, and delivered by the same code (shell/checkpoint-delivery.ts).
 *
 * While a save has not been delivered, as in an outage, no other one is made until the end: the folder itself is on
 * this disk, too. A save that is interrupted leaves a mark, by which the next delivery removes its files.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { rm } from "node:fs/promises";
import { pause } from "@trainyard/kernel";
import {
  beyondLimit,
  nearLimit,
  unsavedWork,
  type WorkLimits,
  type WorkSize,
} from "../core/work-sentences.ts";
import { stagingFolder } from "../core/environment.ts";
import { limits } from "../limits.ts";
import { names, readRecord, textOf, writeRecord } from "../state/layout.ts";
import type { RunFolder } from "../state/run-folder.ts";
import { type CheckpointDeps, deliverCheckpoints, saveStorage } from "./checkpoint-delivery.ts";
import { removeAs } from "../state/remove-as.ts";
import { type ProgramEnd, runProgram } from "./work-program.ts";

export type WorkSettings = WorkLimits & {
  /** The interval of saves while the task runs. */
  readonly everyMs: number;
};

export type WorkDeps = Omit<CheckpointDeps, "tell"> & {
  readonly agent: string;
  readonly work: WorkSettings;
  /** Writes a line to the log of the running task, unless it was written before. */
  readonly note: (line: string) => void;
};

type Saved = WorkSize & { readonly leftOut: readonly string[] } & (
    | { readonly kind: "saved" }
    /** `last` is the checkpoint of the last save, which may be undelivered. */
    | { readonly kind: "unchanged"; readonly last: string }
  );
type Result = Saved | { readonly kind: "too_large"; readonly why: string };

/** The most saves of a run: one a minute for two years. */
const savesOfRun = 1_000_000;

/** The result of an attempt, with the checkpoint that it may have made; a text is the reason of a failure. */
type Attempt = (Result & { readonly checkpoint: string }) | string;

export class WorkSaves implements AsyncDisposable {
  readonly #deps: WorkDeps;
  readonly #signal: AbortSignal;
  readonly #exited = new AbortController();
  readonly #saving: Promise<void>;
  #notice = "";
  /** The size as of the last save. */
  #size: WorkSize | null = null;
  /** The time of the last save that is delivered. */
  #savedAtMs: number | null = null;

  /** Begins to save the folder at intervals, if the run keeps its work. All saving ends when the signal aborts. */
  constructor(deps: WorkDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
    const { keepsWork } = deps.folder;
    const running = AbortSignal.any([signal, this.#exited.signal]);
    const failed = (error: unknown): void => {
      deps.events.workNotSaved(deps.folder.launch.allocation, textOf(error));
    };
    this.#saving = keepsWork ? this.#whileRunning(running).catch(failed) : Promise.resolve();
  }

  /** The folder as people see it. */
  get seen() {
    const { bytes: folderBytes, files: folderFiles } = this.#size ?? {};
    const ageMs = this.#deps.clock.monotonicMs() - (this.#savedAtMs ?? 0);
    return {
      notice: this.#notice,
      ...(folderBytes === undefined ? {} : { folderBytes }),
      ...(folderFiles === undefined ? {} : { folderFiles }),
      ...(this.#savedAtMs === null ? {} : { savedSecondsAgo: Math.floor(ageMs / 1_000) }),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#exited.abort();
    await this.#saving;
  }

  async #whileRunning(signal: AbortSignal): Promise<void> {
    const { clock, work, folder, events, spool } = this.#deps;
    await using stack = new AsyncDisposableStack();
    let isDelivering = false;
    let delivered = Promise.resolve();
    stack.defer(() => delivered);
    const deliver = (savedAtMs: number | null): void => {
      isDelivering = true;
      delivered = this.#deliver(signal).finally(() => {
        isDelivering = false;
        if (spool.sealed().length === 0) this.#savedAtMs = savedAtMs ?? this.#savedAtMs;
      });
    };
    // An earlier agent may have left saves.
    if (folder.process !== null) deliver(null);
    while (!signal.aborted) {
      await pause(clock, work.everyMs, signal);
      if (signal.aborted) return;
      if (folder.process === null || folder.exit !== null || isDelivering) continue;
      const beganMs = clock.monotonicMs();
      const attempt = await this.#save(signal);
      if (signal.aborted) return;
      if (typeof attempt === "string") {
        events.workNotSaved(folder.launch.allocation, attempt);
        continue;
      }
      this.#tell(attempt);
      deliver(attempt.kind === "too_large" ? null : beganMs);
    }
  }

  /**
   * Saves the folder of a run whose processes are gone, if it has changed since the last save, and records how that
   * ended. Returns the lines for the run's log. Does nothing after the first call that was not interrupted.
   */
  async finish(): Promise<readonly string[]> {
    await this[Symbol.asyncDispose]();
    const { folder, clock, events } = this.#deps;
    const signal = this.#signal;
    const { allocation } = folder.launch;
    // A run that never started has nothing that the last save does not have.
    if (
      !folder.keepsWork ||
      folder.process === null ||
      !existsSync(folder.kept) ||
      folder.workEnd !== null
    )
      return [];
    const attempts = folder.kill?.why === "wanted" ? 1 : limits.workAttemptsMax;
    let attempt: Attempt = "";
    for (let tries = 1; tries <= attempts; tries += 1) {
      attempt = await this.#save(AbortSignal.any([signal, AbortSignal.timeout(limits.workSaveMs)]));
      if (signal.aborted) return [];
      if (typeof attempt !== "string") break;
      events.workNotSaved(allocation, attempt);
      if (tries < attempts) await pause(clock, limits.retry.lastMs, signal);
    }
    if (typeof attempt !== "string" && attempt.kind !== "too_large") {
      const checkpoint = attempt.kind === "saved" ? attempt.checkpoint : attempt.last;
      folder.recordWorkEnd({ unsaved: "", checkpoint });
      return attempt.leftOut;
    }
    return [this.#recordUnsaved(typeof attempt === "string" ? attempt : attempt.why)];
  }

  /** Returns the sentence. */
  #recordUnsaved(why: string): string {
    const { folder, agent } = this.#deps;
    const task = folder.launch.task?.id ?? "";
    const unsaved = unsavedWork(why, { task, host: hostname(), agent, path: folder.kept });
    folder.recordWorkEnd({ unsaved, checkpoint: "" });
    return unsaved;
  }

  /**
   * Records that the platform has refused the last save, as if it had not been made. Called when nothing is left to
   * deliver: a save of which there is no record was refused.
   */
  checkRefused(): void {
    const { folder, spool } = this.#deps;
    const { unsaved, checkpoint } = folder.workEnd ?? { unsaved: "", checkpoint: "" };
    if (this.#signal.aborted || unsaved !== "" || checkpoint === "") return;
    const isKnown = [...spool.sealed(), ...spool.stored()].some(
      (known) => known.checkpoint === checkpoint,
    );
    if (!isKnown) this.#recordUnsaved("the platform has refused its last save");
  }

  /** Removes the local files of saves that were delivered to an object store. */
  async removeDelivered(): Promise<void> {
    const { folder, spool } = this.#deps;
    if (this.#signal.aborted || !folder.keepsWork) return;
    if (spool.sealed().length > 0) return;
    const staging = stagingFolder(folder.sealing);
    if (folder.owner !== null) await removeAs(folder.owner, staging);
    else await rm(staging, { recursive: true, force: true });
  }

  async #save(signal: AbortSignal): Promise<Attempt> {
    try {
      return await this.#attempt(signal);
    } catch (error) {
      // The disk of the state folder may be full.
      return textOf(error);
    }
  }

  async #attempt(signal: AbortSignal): Promise<Attempt> {
    const { folder, work, python, checkpointDir } = this.#deps;
    const { launch, owner, kept, saves } = folder;
    const storage = saveStorage(folder, checkpointDir);
    if (storage === null)
      return "this agent does not know the folder of checkpoints (TRAINYARD_CHECKPOINT_DIR)";
    const order = {
      ...{ work: kept, saves, ...storage, checkpoint: randomUUID() },
      ...{ step: nextSave(folder), task: launch.task?.id ?? "", run: launch.run },
      ...{ bytes_max: work.bytesMax, files_max: work.filesMax },
      is_private: owner !== null,
    };
    const result = resultOf(await runProgram("_save", order, { ...python, owner }, signal));
    return typeof result === "string" ? result : { ...result, checkpoint: order.checkpoint };
  }

  async #deliver(signal: AbortSignal): Promise<void> {
    const { folder, note, events } = this.#deps;
    try {
      await deliverCheckpoints({ ...this.#deps, tell: note }, signal);
    } catch (error) {
      events.checkpointsFailed(folder.launch.allocation, error);
    }
  }

  #tell(result: Result): void {
    const { note, work } = this.#deps;
    if (result.kind === "too_large") {
      this.#notice = beyondLimit;
      return note(beyondLimit);
    }
    this.#size = result;
    this.#notice = nearLimit(result, work) ?? "";
    if (this.#notice !== "") note(this.#notice);
    for (const line of result.leftOut) note(line);
  }
}

/** Returns the number of the next save, which counts as begun; those of later runs are higher. */
function nextSave({ path, launch }: RunFolder): number {
  const { number } = readRecord<{ number: number }>(path, names.save) ?? { number: 0 };
  writeRecord(path, names.save, { number: number + 1 });
  return launch.run * savesOfRun + number + 1;
}

function resultOf({ status, stdout, why }: ProgramEnd): Result | string {
  if (status !== 0) return why;
  try {
    return JSON.parse(stdout) as Result;
  } catch {
    return "the program that saves it gave no result";
  }
}
