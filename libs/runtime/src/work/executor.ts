/**
 * Commits a unit of work: runs the handler, appends, and runs the handler again on new states after a conflict. Callers
 * never see conflicts: they get a rejection, a result, or a Fault.
 */
import {
  type AppendResult,
  type CommitMeta,
  type CursorMove,
  type EventLog,
  type Fence,
  type SeenEvent,
  type WrittenStream,
} from "@trainyard/event-log";
import { assertNever, Bug, Fault, isRejection, type Rejection } from "@trainyard/kernel";
import type { FoldCache } from "../folds/fold-cache.ts";
import { runtimeLimits } from "../limits.ts";
import { BufferedWork, MovedStream, type Work } from "./work.ts";

export type Committed = {
  /** The position of the last event; 0 if nothing had to change. */
  readonly position: number;
  readonly streams: readonly WrittenStream[];
  readonly repeated: boolean;
};

export type CommitIdentity = {
  readonly commitId: string;
  readonly meta: CommitMeta;
  /** An event without which the commit is not written; a Term names the newest that it has read by itself. */
  readonly seen?: SeenEvent;
};

/** The lease was lost: its current holder decides. */
export class LeaseLost extends Fault {
  constructor(lease: string) {
    super("lease_lost", `the lease ${lease} has another holder`, { retry: "later" });
  }
}

/** Another process has moved the reaction's cursor: it must be read again. */
export class CursorBehind extends Fault {
  constructor() {
    super("cursor_behind", "the cursor has moved on", { retry: "now" });
  }
}

/** A permanent refusal by the log, which concerns only this decision. */
export class CommitRefused extends Bug {
  readonly code: string;
  constructor(code: string, detail: string) {
    super(`the log refuses the commit (${code}): ${detail}`);
    this.code = code;
  }
}

class TooMuchTogether extends Error {
  override readonly name = "TooMuchTogether";
}

const nothing: Committed = { position: 0, streams: [], repeated: false };

export class Executor {
  readonly cache: FoldCache;
  readonly #log: EventLog;
  readonly fence: Fence | undefined;

  constructor(log: EventLog, cache: FoldCache, fence?: Fence) {
    this.#log = log;
    this.cache = cache;
    this.fence = fence;
  }

  /**
   * Executes a command: the handler decides, and its decisions are one commit. If it returns a rejection, nothing is
   * written.
   */
  async execute(
    identity: CommitIdentity,
    handler: (work: Work) => Promise<Rejection | void>,
  ): Promise<Committed | Rejection> {
    return this.#untilStill(async () => {
      const work = new BufferedWork(this.cache);
      const rejection = await handler(work);
      const rejected = rejection !== undefined && isRejection(rejection);
      if (!rejected && !work.empty) return this.#commit(work, identity);
      await this.#confirm(work);
      return rejected ? rejection : nothing;
    });
  }

  /**
   * Checks the versions of a work that writes nothing: a process that slept through its lease could otherwise answer
   * from stale states, or from states that the log has lost.
   */
  async #confirm(work: BufferedWork): Promise<void> {
    const looks = [...work.loaded()].map(async ([stream, version]) => {
      const known = this.cache.lastEventOf(stream, version);
      const [last, later] = await this.#log.read(stream, Math.max(0, version - 1), 2);
      const wentBack = version > 0 && (last === undefined || last.id !== (known ?? last.id));
      if (wentBack) this.cache.clear();
      const newer = version === 0 ? last : later;
      if (newer !== undefined && !wentBack) this.cache.moved(stream, newer.version);
      if (newer !== undefined || wentBack) throw new MovedStream(stream);
    });
    await Promise.all(looks);
  }

  /**
   * Executes a reaction: its decisions and the cursor's move are one commit. Returns null if it decided nothing, so
   * that the caller may move the cursor lazily. `cursorOfPart` returns the cursor of each part that the handler
   * commits, and of the last one; undefined for a part without a move.
   */
  async react(
    identityOfPart: (part: number) => CommitIdentity,
    cursorOfPart: (part: number | "done") => CursorMove | undefined,
    handler: (work: Work) => Promise<void>,
    firstPart: number,
  ): Promise<Committed | null> {
    let parts = firstPart;
    return this.#untilStill(async () => {
      const work = new BufferedWork(this.cache, async (sofar) => {
        if (sofar.streams < runtimeLimits.streamsPerPart) return;
        parts += 1;
        await this.#commit(sofar, identityOfPart(parts), cursorOfPart(parts));
      });
      await handler(work);
      if (work.empty) return null;
      return this.#commit(work, identityOfPart(parts + 1), cursorOfPart("done"));
    });
  }

  /**
   * Processes several events in one commit, one after the other, up to the size limit of a commit. Throws on a
   * conflict, or on a fan-out that needs separate commits: the caller then processes each event alone.
   */
  async reactTogether(
    steps: readonly ((work: Work) => Promise<void>)[],
    identityOf: (done: number) => CommitIdentity,
    cursorOf: (done: number) => CursorMove,
  ): Promise<{ readonly done: number; readonly committed: boolean }> {
    const work = new BufferedWork(this.cache, async ({ streams }) => {
      if (streams >= runtimeLimits.streamsPerPart) throw new TooMuchTogether();
    });
    let done = 0;
    try {
      for (const step of steps) {
        work.beginStep();
        await step(work);
        done += 1;
        if (work.events >= runtimeLimits.eventsTogether) break;
      }
      if (work.empty) return { done, committed: false };
      await this.#commit(work, identityOf(done), cursorOf(done));
      return { done, committed: true };
    } catch (error) {
      if (error instanceof MovedStream) this.cache.forget(error.stream);
      throw error;
    }
  }

  /** Commits a cursor's move alone, with parked and retried events. */
  async moveCursor(identity: CommitIdentity, cursor: CursorMove): Promise<void> {
    this.#settle(await this.#log.append(this.#request([], [], identity, cursor)), () => {});
  }

  async #commit(
    work: BufferedWork,
    identity: CommitIdentity,
    cursor?: CursorMove,
  ): Promise<Committed> {
    const request = this.#request(work.writes(), work.guards(), identity, cursor);
    const result = await this.#log.append(request).catch((error: unknown) => {
      // The outcome is unknown: the folds of these streams may be wrong.
      for (const write of request.writes) this.cache.forget(write.stream);
      throw error;
    });
    return this.#settle(result, () => work.settle(request.writes));
  }

  #request(
    writes: ReturnType<BufferedWork["writes"]>,
    guards: ReturnType<BufferedWork["guards"]>,
    identity: CommitIdentity,
    cursor?: CursorMove,
  ) {
    return {
      ...identity,
      writes,
      guards,
      ...(cursor === undefined ? {} : { cursor }),
      ...(this.fence === undefined ? {} : { fence: this.fence }),
    };
  }

  /** `settle` is called when the log has accepted the current attempt. */
  #settle(result: AppendResult, settle: () => void): Committed {
    switch (result.kind) {
      case "committed":
        if (result.repeated) for (const { stream } of result.streams) this.cache.forget(stream);
        else settle();
        return { position: result.position, streams: result.streams, repeated: result.repeated };
      case "conflict":
        this.cache.moved(result.stream, result.actualVersion);
        throw new MovedStream(result.stream);
      case "stale_fence":
        throw new LeaseLost(result.lease);
      case "cursor_behind":
        throw new CursorBehind();
      case "refused":
        throw new CommitRefused(result.code, result.detail);
      default:
        return assertNever(result, "append's answer");
    }
  }

  async #untilStill<Result>(attempt: () => Promise<Result>): Promise<Result> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof MovedStream)) throw error;
        this.cache.forget(error.stream);
        if (tries >= runtimeLimits.conflictRetriesMax) {
          throw new Fault("contended", `${error.stream} keeps moving`, { retry: "later" });
        }
      }
    }
  }
}
