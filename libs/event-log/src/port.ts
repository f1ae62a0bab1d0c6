/**
 * The port of the append-only log.
 *
 * The contract suite (`contract.ts`), which every adapter passes, tests each of these promises:
 * - `append` is all or nothing: writes, cursor, parking. Positions are gapless and a reader never sees n+1 before n.
 * - A repeated `commitId` of the same role returns the first result, before any version or fence is checked. The same
 *   id of another role is another commit, so a role gains nothing by using another role's id first.
 * - The source of a commit is always that of the appending role, even if the commit names another.
 * - Conflicts, stale fences and refusals are results, not errors. Errors are Faults: the outcome is unknown, and the
 *   caller may send the same commit again.
 * - A commit that depends on an event that the log lacks (`seen`) is not written: a Fault `log_rewound`.
 * - `time` never decreases from one position to the next.
 * - A page ends by number or by bytes (`page-size.ts`): a short one is the last only if it is not full (`isFullPage`).
 *   As many events as `bodyBytesMax` fits into `pageBytesMax` are always in one page.
 */

/** One event to be written. The body is the exact proto JSON text that is hashed and stored. */
export type NewEvent = {
  /** A UUIDv7 that the caller generates. */
  readonly id: string;
  /** The event type: dev.trainyard.<aggregate>.<PastTense>.v<n>. */
  readonly type: string;
  readonly body: string;
};

/** Events to append to one stream. The expected version is the number of events in the stream; 0 for a new stream. */
export type StreamWrite = {
  readonly stream: string;
  readonly expectedVersion: number;
  readonly events: readonly NewEvent[];
};

/** A stream, also of another owner, whose version must be unchanged. */
export type StreamGuard = { readonly stream: string; readonly expectedVersion: number };

/** An event that could not be processed, with its reason; later events of the same key are parked too. */
export type Park = {
  readonly position: number;
  readonly key: string;
  readonly reason: string;
};

/**
 * A consumer's progress: all events up to and including `position` are processed, and `part` commits of the next event.
 * Cursors are ordered by (position, part); a move that is not forward is refused as `cursor_behind`.
 */
export type CursorMove = {
  readonly consumer: string;
  readonly partition: number;
  readonly position: number;
  readonly part: number;
  /** The events that this commit parks. */
  readonly park?: readonly Park[];
  /**
   * Positions of parked events that were retried with success: their rows are deleted. Such a commit need not move the
   * cursor. It may park the same event again, which replaces the row.
   */
  readonly unpark?: readonly number[];
};

/**
 * The lease under which the caller decides. A commit is refused unless both epoch and owner are current: after a
 * rewind, a log may assign the same epoch to another owner.
 */
export type Fence = { readonly lease: string; readonly epoch: number; readonly owner: string };

/** Evidence for the log's history: a log with this id at this position also has all earlier events unchanged. */
export type SeenEvent = { readonly position: number; readonly id: string };

/** The attributes that all events of a commit share, with their CloudEvents names; unknown ones are empty. */
export type CommitMeta = {
  /** `/trainyard/<service>`. The log replaces it by the source of the appending role. */
  readonly source: string;
  readonly workspace: string;
  readonly correlationid: string;
  readonly causationid: string;
  /** The cause: empty if unknown, a name (`admin`), or a kind and an id (`token:4f…`, `run:12.3#1`, `agent:gpu-7`). */
  readonly authid: string;
  readonly traceparent: string;
};

export type AppendRequest = {
  /** A UUID, unique within the role. It is derived from the commit's cause, so that a repeat is recognised. */
  readonly commitId: string;
  /** The streams to write: at most 256, each once. The list may be empty if there is a cursor. */
  readonly writes: readonly StreamWrite[];
  readonly guards: readonly StreamGuard[];
  readonly cursor?: CursorMove;
  readonly fence?: Fence;
  /**
   * The newest event that the decision may depend on. If the log lost it, nothing is written, and a Fault `log_rewound`
   * is thrown.
   */
  readonly seen?: SeenEvent;
  readonly meta: CommitMeta;
};

export type WrittenStream = { readonly stream: string; readonly version: number };

export type AppendResult =
  | {
      readonly kind: "committed";
      /** The position of the commit's last event; 0 for a commit without events. */
      readonly position: number;
      /** The written streams with their versions after this commit. */
      readonly streams: readonly WrittenStream[];
      /** True if the commit id was used before: this is the first result. */
      readonly repeated: boolean;
    }
  | {
      readonly kind: "conflict";
      readonly stream: string;
      readonly expectedVersion: number;
      readonly actualVersion: number;
    }
  | { readonly kind: "stale_fence"; readonly lease: string; readonly epoch: number }
  | { readonly kind: "cursor_behind"; readonly position: number; readonly part: number }
  | {
      readonly kind: "refused";
      /** One of body_too_large, too_many_writes, not_owner, empty, duplicate_stream, invalid. */
      readonly code: string;
      readonly detail: string;
    };

/** An event as the log returns it. */
export type StoredEvent = {
  readonly position: number;
  readonly stream: string;
  /** The event's number in its stream; 1 for the first event. */
  readonly version: number;
  readonly id: string;
  readonly type: string;
  /** The commit's time, in milliseconds since 1970. */
  readonly timeMs: number;
  readonly commitId: string;
  readonly meta: CommitMeta;
  readonly body: string;
};

export type CursorState = { readonly position: number; readonly part: number };

export type ParkedRow = {
  readonly consumer: string;
  readonly partition: number;
  readonly position: number;
  readonly key: string;
  readonly reason: string;
  readonly parkedAtMs: number;
};

export type Lease = {
  readonly lease: string;
  readonly owner: string;
  readonly epoch: number;
  /** The remaining term from the moment of the answer, by the database's clock. */
  readonly remainingMs: number;
  /** The time since the lease was last acquired or renewed, by the same clock; null if it is the first time. */
  readonly idleMs: number | null;
};

/**
 * A recorded end of the log, kept outside it: if the log later loses or changes an earlier event, it no longer matches
 * the anchor.
 */
export type LogAnchor = {
  readonly position: number;
  /** The hash of the commit that ends at the position, in hex; zeros at position 0. */
  readonly hash: string;
};

export type VerifyFinding = { readonly position: number; readonly detail: string };

/** Selects streams by name or by prefix of the name. */
export type SomeStreams = {
  readonly names: readonly string[];
  readonly beginnings: readonly string[];
};

export type SomeEvents = { readonly events: readonly StoredEvent[]; readonly scannedTo: number };

export interface EventLog extends AsyncDisposable {
  append(request: AppendRequest): Promise<AppendResult>;

  /** Returns a page of at most `limit` events of a stream after `afterVersion`, in order. */
  read(stream: string, afterVersion: number, limit: number): Promise<readonly StoredEvent[]>;

  /**
   * Returns the version of a stream's last event; 0 for a stream without events. Versions have no gaps: the last `n`
   * events before version `v` are `read(stream, v - 1 - n, n)`.
   */
  lastVersion(stream: string): Promise<number>;

  /** Returns a page of at most `limit` events after a position, in order. */
  readAll(afterPosition: number, limit: number): Promise<readonly StoredEvent[]>;

  /**
   * Scans the next `window` positions after `afterPosition` and returns only the events of the given streams, in order,
   * and the last scanned position. That is less than `afterPosition + window` at the log's end, and for a full page,
   * which it ends with.
   */
  readSome(streams: SomeStreams, afterPosition: number, window: number): Promise<SomeEvents>;

  /**
   * Returns the positions of all events of the given streams after a position, in order, by the index of streams: for
   * the replay of one object out of a large log.
   */
  positionsOf(streams: SomeStreams, afterPosition: number): Promise<readonly number[]>;

  /** Returns a page of the events at some positions, which ascend; a position beyond the log's end has none. */
  readAt(positions: readonly number[]): Promise<readonly StoredEvent[]>;

  /** Returns the last position; 0 for an empty log. */
  head(): Promise<number>;

  /**
   * Registers a callback for a growing log (LISTEN/NOTIFY, with polling as the fallback). It is only a hint: it may
   * come late, twice or without a new event.
   */
  onAppended(callback: () => void): Promise<AsyncDisposable>;

  /** Returns the cursor; {0, 0} for a consumer that never moved it. */
  cursor(consumer: string, partition: number): Promise<CursorState>;

  /**
   * Moves a cursor past events that caused no commit; this takes neither a lock nor a position. A move backwards is
   * ignored. `seen` as in `append`.
   */
  moveCursor(move: CursorMove, fence?: Fence, seen?: SeenEvent): Promise<void>;

  parked(consumer?: string): Promise<readonly ParkedRow[]>;

  /**
   * Acquires, renews or takes over a lease; returns null if another owner's lease has not expired. A new holder gets a
   * new epoch. A lease that ends later than its holder could have requested counts as expired, because the clock that
   * granted it was ahead.
   */
  acquireLease(lease: string, owner: string, ttlMs: number): Promise<Lease | null>;
  /** Releases a lease at once, so that a standby need not wait for its expiry. */
  releaseLease(lease: string, owner: string): Promise<void>;

  /** Saves a fold from which later folds start; it may be lost. Only the owner of the stream's category may save it. */
  saveSnapshot(stream: string, version: number, schema: string, body: string): Promise<void>;
  loadSnapshot(
    stream: string,
    schema: string,
  ): Promise<{ readonly version: number; readonly body: string } | null>;
  /** Removes all snapshots of a finished stream. Only the owner of the stream's category may. */
  dropSnapshots(stream: string): Promise<void>;

  /** Walks the hash chain from a position (0 for the start) to the end and yields every defect. */
  verify(
    afterPosition: number,
    onProgress?: (position: number) => void,
  ): AsyncIterable<VerifyFinding>;

  /** Returns the current end of the log. */
  anchor(): Promise<LogAnchor>;
  /**
   * Returns evidence that the log has changed since the anchor was taken; null if the anchor's commit is unchanged.
   * `verify` proves the events before that commit, so together they detect every loss or change up to the anchor.
   */
  checkAnchor(anchor: LogAnchor): Promise<VerifyFinding | null>;

  /**
   * Returns how far the newest commit's time is ahead of the database's clock; 0 if it is not. Times never decrease:
   * after a period with a fast clock, all events get the same time until the clock has caught up.
   */
  timeAheadMs(): Promise<number>;
}
