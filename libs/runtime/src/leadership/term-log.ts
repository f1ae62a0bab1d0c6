/**
 * The log as one term uses it. It records the newest event that was read or written through it, and each append names
 * that event. After a rewind the log lacks this event and refuses everything that may depend on it: decisions and
 * cursor moves, even if positions, versions and epochs match.
 *
 * A mismatch is a `LogRewound`, which ends the term. The recorded event is never reset: the next term has a new
 * instance.
 */
import type {
  AppendRequest,
  AppendResult,
  CursorMove,
  CursorState,
  EventLog,
  Fence,
  Lease,
  LogAnchor,
  ParkedRow,
  SeenEvent,
  SomeEvents,
  SomeStreams,
  StoredEvent,
} from "@trainyard/event-log";
import { isFault } from "@trainyard/kernel";
import { LogRewound } from "../history/log-history.ts";

export class TermLog implements EventLog {
  readonly #log: EventLog;
  #newest: SeenEvent | null = null;

  constructor(log: EventLog) {
    this.#log = log;
  }

  /** Records events that came from the bus, or were just written. */
  see(events: readonly SeenEvent[]): void {
    for (const { position, id } of events) {
      if (position > (this.#newest?.position ?? 0)) this.#newest = { position, id };
    }
  }

  async append(request: AppendRequest): Promise<AppendResult> {
    const seen = this.#newest;
    const result = await this.#resting(seen, () =>
      this.#log.append(seen === null ? request : { ...request, seen }),
    );
    // After a repeat the log has only the events of the first attempt.
    if (result.kind === "committed" && !result.repeated) {
      const last = request.writes.at(-1)?.events.at(-1);
      if (last !== undefined) this.see([{ position: result.position, id: last.id }]);
    }
    return result;
  }

  moveCursor(move: CursorMove, fence?: Fence): Promise<void> {
    const seen = this.#newest;
    return this.#resting(seen, () => this.#log.moveCursor(move, fence, seen ?? undefined));
  }

  async #resting<Result>(seen: SeenEvent | null, write: () => Promise<Result>): Promise<Result> {
    try {
      return await write();
    } catch (error) {
      if (seen === null || !isFault(error) || error.code !== "log_rewound") throw error;
      throw new LogRewound(seen, "does not have it any more");
    }
  }

  async read(stream: string, afterVersion: number, limit: number): Promise<readonly StoredEvent[]> {
    return this.#noted(await this.#log.read(stream, afterVersion, limit));
  }

  lastVersion(stream: string): Promise<number> {
    return this.#log.lastVersion(stream);
  }

  async readAll(afterPosition: number, limit: number): Promise<readonly StoredEvent[]> {
    return this.#noted(await this.#log.readAll(afterPosition, limit));
  }

  async readSome(streams: SomeStreams, afterPosition: number, window: number): Promise<SomeEvents> {
    const found = await this.#log.readSome(streams, afterPosition, window);
    this.#noted(found.events);
    return found;
  }

  positionsOf(streams: SomeStreams, afterPosition: number): Promise<readonly number[]> {
    return this.#log.positionsOf(streams, afterPosition);
  }

  async readAt(positions: readonly number[]): Promise<readonly StoredEvent[]> {
    return this.#noted(await this.#log.readAt(positions));
  }

  #noted(events: readonly StoredEvent[]): readonly StoredEvent[] {
    this.see(events.slice(-1));
    return events;
  }

  head(): Promise<number> {
    return this.#log.head();
  }

  onAppended(callback: () => void): Promise<AsyncDisposable> {
    return this.#log.onAppended(callback);
  }

  cursor(consumer: string, partition: number): Promise<CursorState> {
    return this.#log.cursor(consumer, partition);
  }

  parked(consumer?: string): Promise<readonly ParkedRow[]> {
    return this.#log.parked(consumer);
  }

  acquireLease(lease: string, owner: string, ttlMs: number): Promise<Lease | null> {
    return this.#log.acquireLease(lease, owner, ttlMs);
  }

  releaseLease(lease: string, owner: string): Promise<void> {
    return this.#log.releaseLease(lease, owner);
  }

  saveSnapshot(stream: string, version: number, schema: string, body: string): Promise<void> {
    return this.#log.saveSnapshot(stream, version, schema, body);
  }

  loadSnapshot(stream: string, schema: string): ReturnType<EventLog["loadSnapshot"]> {
    return this.#log.loadSnapshot(stream, schema);
  }

  dropSnapshots(stream: string): Promise<void> {
    return this.#log.dropSnapshots(stream);
  }

  verify(...from: Parameters<EventLog["verify"]>): ReturnType<EventLog["verify"]> {
    return this.#log.verify(...from);
  }

  anchor(): Promise<LogAnchor> {
    return this.#log.anchor();
  }

  checkAnchor(anchor: LogAnchor): ReturnType<EventLog["checkAnchor"]> {
    return this.#log.checkAnchor(anchor);
  }

  timeAheadMs(): Promise<number> {
    return this.#log.timeAheadMs();
  }

  /** The log outlives the term and stays open. */
  async [Symbol.asyncDispose](): Promise<void> {}
}
