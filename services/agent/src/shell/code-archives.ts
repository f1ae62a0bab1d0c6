/** A cache of packed model code by digest: downloaded once, verified, and kept for the next run. */
import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ReadableStream } from "node:stream/web";
import { storeReason } from "@trainyard/blob";
import type { Bus } from "@trainyard/bus";
import { Backoff, type Clock, limits as common } from "@trainyard/kernel";
import { decodeReply, encodeRequest, readRejected, retryReason } from "@trainyard/runtime";
import type { Telemetry } from "../telemetry.ts";
import { limits } from "../limits.ts";
import { isDiskFull, makeFolder } from "../state/layout.ts";

/** The code does not exist or does not match its digest; retrying is useless. */
export class NoCode extends Error {
  override readonly name = "NoCode";
}

/** The progress of the download of a digest's code. */
export type FetchProgress = {
  /** The number of chunks received, in all attempts. */
  readonly pieces: number;
  /** True if the last answer of the registry or of the store is missing or incomplete. */
  readonly waits: boolean;
};

/**
 * Gets a sentence for the people of a run whose code could not be fetched for a while, once for each reason, also those
 * from before this run joined.
 */
export type OnWait = (sentence: string) => void;

type Waiting = { readonly runs: Set<OnWait>; readonly told: Set<string> };

class WrongBytes extends Error {
  override readonly name = "WrongBytes";
}

const silent = new Error("the download received no data for a while");

export type CodeArchivesDeps = {
  readonly folder: string;
  readonly agent: string;
  readonly bus: Bus;
  readonly events: Telemetry;
  readonly clock: Clock;
  /** The time without data after which a download is restarted, and that of `OnWait`; only tests set them. */
  readonly silenceMs?: number;
  readonly toldMs?: number;
};

export class CodeArchives {
  readonly #deps: CodeArchivesDeps;
  readonly #fetching = new Map<string, Promise<string>>();
  readonly #progress = new Map<string, FetchProgress>();
  readonly #waiting = new Map<string, Waiting>();

  constructor(deps: CodeArchivesDeps) {
    this.#deps = deps;
    makeFolder(deps.folder);
  }

  /** Returns the progress of a running or recent download. */
  progressOf(digest: string): FetchProgress {
    return this.#progress.get(digest) ?? { pieces: 0, waits: false };
  }

  #note(digest: string, waits: boolean): void {
    const { pieces } = this.progressOf(digest);
    this.#progress.set(digest, { pieces: waits ? pieces : pieces + 1, waits });
  }

  /**
   * Returns the path of the packed code. Waits while the registry or the store is unavailable; throws NoCode, or when
   * the signal aborts.
   */
  async packed(digest: string, signal: AbortSignal, onWait: OnWait = () => {}): Promise<string> {
    if (!/^[0-9a-f]{64}$/.test(digest)) throw new NoCode(`${JSON.stringify(digest)} is no digest`);
    const path = join(this.#deps.folder, `${digest}.tar.gz`);
    const now = new Date(this.#deps.clock.nowMs());
    try {
      await utimes(path, now, now);
      return path;
    } catch {
      // The file is not in the cache yet.
    }
    const waiting = this.#waiting.get(digest) ?? { runs: new Set(), told: new Set() };
    const { runs, told } = waiting;
    this.#waiting.set(digest, waiting);
    runs.add(onWait);
    for (const sentence of told) onWait(sentence);
    try {
      return await this.#fetchShared(digest, path, signal);
    } finally {
      runs.delete(onWait);
      if (runs.size === 0) this.#waiting.delete(digest);
    }
  }

  async #fetchShared(digest: string, path: string, signal: AbortSignal): Promise<string> {
    for (;;) {
      // A download may be aborted by the run that began it; then another run continues.
      const others = this.#fetching.get(digest);
      const fetching = others ?? this.#fetchUntilHad(digest, path, signal);
      if (others === undefined) {
        this.#fetching.set(digest, fetching);
        void fetching.catch(() => {}).finally(() => this.#fetching.delete(digest));
      }
      try {
        return await fetching;
      } catch (error) {
        signal.throwIfAborted();
        if (others === undefined || error instanceof NoCode) throw error;
      }
    }
  }

  /** Removes a file that could not be unpacked, so that it is downloaded again. */
  async drop(digest: string): Promise<void> {
    await rm(join(this.#deps.folder, `${digest}.tar.gz`), { force: true });
  }

  async cleanUp(): Promise<void> {
    const { folder } = this.#deps;
    const files = [];
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      const { size, mtimeMs } = await stat(path);
      files.push({ path, size, mtimeMs, isPart: !name.endsWith(".tar.gz") });
    }
    const nowMs = this.#deps.clock.nowMs();
    let kept = 0;
    for (const { path, size, isPart, mtimeMs } of files.toSorted((a, b) => b.mtimeMs - a.mtimeMs)) {
      kept += size;
      const abandoned = isPart && nowMs - mtimeMs > 10 * limits.contextSilenceMs;
      if (abandoned || (!isPart && kept > limits.contextCacheBytesMax))
        await rm(path, { force: true });
    }
  }

  async #fetchUntilHad(digest: string, path: string, signal: AbortSignal): Promise<string> {
    const backoff = new Backoff(limits.retry, this.#deps.clock, signal);
    const { clock, toldMs = limits.contextToldMs } = this.#deps;
    const beganMs = clock.monotonicMs();
    let wrong = 0;
    for (;;) {
      signal.throwIfAborted();
      try {
        return await this.#fetch(digest, path, signal);
      } catch (error) {
        signal.throwIfAborted();
        // Waiting does not free the disk, and the run could start on another agent.
        if (error instanceof NoCode || isDiskFull(error)) throw error;
        this.#note(digest, true);
        if (error instanceof WrongBytes) wrong += 1;
        if (wrong >= limits.contextAttemptsMax) {
          throw new NoCode(`what is stored as ${digest} is something else`);
        }
        this.#deps.events.contextWaits(digest, error);
        const sentence = `the model code cannot be fetched: ${retryReason(error)}; trying again`;
        if (clock.monotonicMs() - beganMs >= toldMs) this.#tell(digest, sentence);
        await backoff.wait();
      }
    }
  }

  #tell(digest: string, sentence: string): void {
    const waiting = this.#waiting.get(digest);
    if (waiting === undefined || waiting.told.has(sentence)) return;
    waiting.told.add(sentence);
    for (const onWait of waiting.runs) onWait(sentence);
  }

  async #fetch(digest: string, path: string, signal: AbortSignal): Promise<string> {
    const url = await this.#plan(digest);
    const silence = new AbortController();
    const { clock, silenceMs = limits.contextSilenceMs } = this.#deps;
    const begin = (): Disposable => clock.timer(silenceMs, () => silence.abort(silent));
    let timer = begin();
    try {
      const either = AbortSignal.any([signal, silence.signal]);
      return await this.#download(digest, path, url, either, () => {
        this.#note(digest, false);
        timer[Symbol.dispose]();
        timer = begin();
      });
    } finally {
      timer[Symbol.dispose]();
    }
  }

  async #download(
    digest: string,
    path: string,
    url: string,
    signal: AbortSignal,
    onPiece: () => void,
  ): Promise<string> {
    // Messages contain only the host: the rest of the address gives access to the code.
    const { host } = new URL(url);
    const response = await fetch(url, { signal }).catch((cause: unknown) => {
      throw signal.aborted ? cause : new Error(`${host} does not answer`, { cause });
    });
    const body = Readable.fromWeb(
      (response.body ?? ReadableStream.from([])) as ReadableStream<Uint8Array>,
    );
    if (!response.ok) {
      const said = await storeReason(body);
      throw new Error(`${host} answers ${response.status}${said === "" ? "" : ` (${said})`}`);
    }
    const hash = createHash("sha256");
    let bytes = 0;
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        onPiece();
        bytes += chunk.length;
        hash.update(chunk);
        done(bytes > common.contextBytesMax ? new WrongBytes("it is too large") : null, chunk);
      },
    });
    const part = `${path}.${randomUUID()}.part`;
    try {
      await pipeline(body, measure, createWriteStream(part, { mode: 0o600 }), { signal });
      const found = hash.digest("hex");
      if (found !== digest) throw new WrongBytes(`its digest is ${found}`);
      await rename(part, path);
      return path;
    } finally {
      await rm(part, { force: true });
    }
  }

  async #plan(digest: string): Promise<string> {
    const headers = {
      commitId: randomUUID(),
      authid: `agent:${this.#deps.agent}`,
      traceparent: "",
      correlationid: "",
    };
    const body = encodeRequest("registry", "PlanContextDownload", { digest });
    const reply = await this.#deps.bus.request(
      "registry",
      "PlanContextDownload",
      { headers, body },
      limits.contextPlanMs,
    );
    if (reply.kind === "ok") return decodeReply("registry", "PlanContextDownload", reply.body).url;
    if (reply.kind === "unavailable") throw new Error(reply.detail);
    const { rejected, detail } = readRejected(reply.body);
    if (rejected === "internal") throw new Error(detail);
    throw new NoCode(`the registry does not have the model code (${rejected}: ${detail})`);
  }
}
