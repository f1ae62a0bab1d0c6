/**
 * Reads a log for one view: a window of lines (window.ts) that is moved by reading older and newer pages, and that
 * follows the log's end on request.
 *
 * - opening: a place of the log is being read.
 * - following: the stream's lines are added to the window, all lines of a frame at once.
 * - not following: the stream's lines are only counted, and read from the log when the reader scrolls to them.
 *
 * The stream starts after the last known line, so no line is missing or repeated.
 */
import { ApiError, isBusy } from "@trainyard/client";
import type { LogLine, LogPage, LogRange, LogSource, RemovedLines } from "./source.ts";
import { emptyWindow, type LogWindow, withNewer, withOlder } from "./window.ts";

export type LogState = {
  /** The place that was opened last. */
  readonly place: Place;
  readonly window: LogWindow;
  readonly reading: "all" | "older" | "newer" | null;
  readonly following: boolean;
  /** The number of lines that arrived while the end was not followed. */
  readonly unseen: number;
  /** The log had ended when it was last followed. */
  readonly ended: boolean;
  readonly removed: RemovedLines | undefined;
  readonly problem: Error | null;
};

/** The end, the start, or the line with this cursor. */
export type Place = "end" | "start" | { readonly cursor: string };

export type Schedule = {
  /** Calls back before the next frame is drawn. */
  readonly beforeFrame: (callback: () => void) => void;
  readonly after: (ms: number, callback: () => void) => void;
};

const againAfterMs = 2_000;
/** Frames are not drawn in a hidden tab: lines are then added in batches of this size. */
const pendingMax = 2_000;

const start: LogState = {
  place: "end",
  window: emptyWindow,
  reading: "all",
  following: false,
  unseen: 0,
  ended: false,
  removed: undefined,
  problem: null,
};

export class LogReader {
  readonly #source: LogSource;
  readonly #schedule: Schedule;
  readonly #listeners = new Set<() => void>();
  #state = start;
  #reads = new AbortController();
  #stream = new AbortController();
  #pending: LogLine[] = [];
  #isScheduled = false;

  constructor(source: LogSource, schedule: Schedule) {
    this.#source = source;
    this.#schedule = schedule;
  }

  readonly state = (): LogState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Opens a place. The place "end" is followed. */
  async open(place: Place): Promise<void> {
    this.close();
    const { signal } = this.#reads;
    const { removed } = this.#state;
    this.#change({ ...start, place, removed, following: place === "end" });
    await this.#attempt(signal, async () => {
      const window = await this.#windowAt(place, signal);
      if (signal.aborted) return;
      this.#change({ window });
      if (window.lines.length === 0 && window.older !== null) await this.#older(signal);
      if (window.atEnd) this.#startStream();
    });
  }

  async readOlder(): Promise<void> {
    const { signal } = this.#reads;
    if (this.#state.reading !== null || this.#state.window.older === null) return;
    this.#change({ reading: "older" });
    await this.#attempt(signal, () => this.#older(signal));
  }

  async readNewer(): Promise<void> {
    const { signal } = this.#reads;
    if (this.#state.reading !== null || this.#state.window.atEnd) return;
    this.#change({ reading: "newer" });
    await this.#attempt(signal, async () => {
      const after = this.#state.window.newer;
      const { lines, cursor, isLast } = await this.#forwards(after, signal);
      if (signal.aborted) return;
      const window = withNewer(this.#state.window, lines, cursor, isLast);
      this.#change({ window, ...(isLast ? { unseen: 0 } : {}) });
      if (isLast) this.#startStream();
    });
  }

  stopFollowing(): void {
    if (this.#state.following) this.#change({ following: false });
  }

  /** Follows the end: from the window if it contains the end, otherwise by opening the end. */
  follow(): void {
    if (this.#state.following) return;
    if (!this.#state.window.atEnd || this.#state.problem !== null) {
      void this.open("end");
      return;
    }
    this.#change({ following: true });
    if (this.#state.ended) this.#startStream();
  }

  /** Follows an ended log again: its trial may have been restarted. */
  resume(): void {
    if (this.#state.ended && this.#state.window.atEnd) this.#startStream();
  }

  close(): void {
    this.#reads.abort();
    this.#reads = new AbortController();
    this.#stream.abort();
    this.#pending = [];
  }

  async #windowAt(place: Place, signal: AbortSignal): Promise<LogWindow> {
    if (place === "end") {
      const { lines, next, removed, end } = await this.#source.last(signal);
      if (!signal.aborted) this.#change({ removed });
      return { lines, older: next, newer: end, atEnd: true };
    }
    if (place === "start") {
      const { lines, cursor, isLast } = await this.#forwards("", signal);
      return { lines, older: null, newer: cursor, atEnd: isLast };
    }
    const after = String(BigInt(place.cursor) - 1n);
    const [before, from] = await Promise.all([
      this.#read({ before: place.cursor }, signal),
      this.#read({ after }, signal),
    ]);
    return {
      lines: [...before.lines, ...from.lines],
      older: before.next,
      newer: from.next ?? from.lines.at(-1)?.cursor ?? after,
      atEnd: from.next === null,
    };
  }

  /** Reads the next older lines and skips empty pages. */
  async #older(signal: AbortSignal): Promise<void> {
    let { older } = this.#state.window;
    while (older !== null && !signal.aborted) {
      const page: LogPage = await this.#read({ before: older }, signal);
      if (signal.aborted) return;
      older = page.next;
      const window = withOlder(this.#state.window, page.lines, older);
      // The end can be followed only while the window contains it.
      this.#change({ window, following: this.#state.following && window.atEnd });
      if (page.lines.length > 0) return;
    }
  }

  async #forwards(after: string, signal: AbortSignal) {
    for (let cursor = after; ; ) {
      const page = await this.#read({ after: cursor }, signal);
      const isLast = page.next === null;
      cursor = page.next ?? page.lines.at(-1)?.cursor ?? cursor;
      if (isLast || page.lines.length > 0) return { lines: page.lines, cursor, isLast };
    }
  }

  async #read(range: LogRange, signal: AbortSignal): Promise<LogPage> {
    const page = await this.#source.read(range, signal);
    if (!signal.aborted && page.removed !== undefined) this.#change({ removed: page.removed });
    return page;
  }

  async #attempt(signal: AbortSignal, reading: () => Promise<void>): Promise<void> {
    try {
      await reading();
      if (!signal.aborted) this.#change({ reading: null, problem: null });
    } catch (error) {
      if (!signal.aborted) this.#change({ reading: null, problem: asError(error) });
    }
  }

  #startStream(): void {
    this.#stream.abort();
    this.#stream = new AbortController();
    this.#pending = [];
    this.#change({ ended: false });
    void this.#listen(this.#state.window.newer, this.#stream.signal);
  }

  async #listen(from: string, signal: AbortSignal): Promise<void> {
    let after = from;
    try {
      for await (const line of this.#source.follow(after, signal)) {
        if (signal.aborted) return;
        after = line.cursor;
        this.#add(line);
      }
      if (signal.aborted) return;
      this.#flush();
      this.#change({ ended: true });
    } catch (error) {
      if (signal.aborted) return;
      this.#change({ problem: asError(error) });
      if (error instanceof ApiError && error.problem.status < 500 && !isBusy(error)) return;
      this.#schedule.after(againAfterMs, () => {
        if (signal.aborted) return;
        this.#change({ problem: null });
        void this.#listen(after, signal);
      });
    }
  }

  #add(line: LogLine): void {
    this.#pending.push(line);
    if (this.#pending.length >= pendingMax) this.#flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#schedule.beforeFrame(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    const lines = this.#pending;
    const last = lines.at(-1);
    if (last === undefined) return;
    this.#pending = [];
    const { window, following, unseen } = this.#state;
    const next = following
      ? { window: withNewer(window, lines, last.cursor, true) }
      : { window: { ...window, atEnd: false }, unseen: unseen + lines.length };
    this.#change({ ...next, problem: null });
  }

  #change(changes: Partial<LogState>): void {
    this.#state = { ...this.#state, ...changes };
    for (const listener of this.#listeners) listener();
  }
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error));
