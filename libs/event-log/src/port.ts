/**
 * The append-only log as everything else sees it.
 *
 * Promises, each a test of the contract suite (`contract.ts`) that every adapter passes:
 * - `append` is all or nothing: writes, cursor, parking. Positions are gapless and a reader never sees n+1 before n.
 * - A repeated `commitId` of the same role answers as the first time did, before any version or fence is looked at. The
 *   same id of another role is another commit, so that nobody gains by using an id that somebody else is going to use.
 * - The source of a commit is that of the role that wrote it, whatever the commit says.
 * - Conflicts, stale fences and refusals are answers, not errors. What throws is a Fault: the outcome is unknown, and
 *   the same commit may be sent again.
 * - What depends on an event that the log does not have (any more) is not written: a Fault `log_rewound`.
 * - `time` never goes back along positions.
 */

/** One event to be written. The body is the exact text of its proto JSON, which is what is hashed and stored. */
export type NewEvent = {
  /** UUIDv7, drawn by the caller. */
  readonly id: string;
  /** dev.trainyard.<aggregate>.<PastTense>.v<n> */
  readonly type: string;
  readonly body: string;
};

/** Events at the end of one stream. The expected version is the count of the events that it holds; 0 for a new one. */
export type StreamWrite = {
  readonly stream: string;
  readonly expectedVersion: number;
  readonly events: readonly NewEvent[];
};

/** A stream, also of another owner, that must not have moved. */
export type StreamGuard = { readonly stream: string; readonly expectedVersion: number };

/** An event that could not be processed, with its reason; later events of the same key park behind it. */
export type Park = {
  readonly position: number;
  readonly key: string;
  readonly reason: string;
};

/**
 * How far a reaction has come: all events up to and including `position` are done, and of the next one the first
 * `part` commits. Order is (position, part); a move that is not forward is refused as `cursor_behind`.
 */
export type CursorMove = {
  readonly consumer: string;
  readonly partition: number;
  readonly position: number;
  readonly part: number;
  /** Parked in this commit. */
  readonly park?: readonly Park[];
  /** Positions that were driven again with success: their rows go. Then the cursor itself need not move. */
  readonly unpark?: readonly number[];
};

/**
 * The lease under which the caller decides; an epoch that is not the current one is refused. So is the current one
 * under another owner: a log that went back counts epochs again from where it is, and gives them to others.
 */
export type Fence = { readonly lease: string; readonly epoch: number; readonly owner: string };

/** An event as evidence: a log that has this id at this position has everything before it as well, and unchanged. */
export type SeenEvent = { readonly position: number; readonly id: string };

/** The attributes that all events of a commit share; CloudEvents names. Empty strings for what is not known. */
export type CommitMeta = {
  /** `/trainyard/<service>`. The log writes that of the role that appends in its place. */
  readonly source: string;
  readonly workspace: string;
  readonly correlationid: string;
  readonly causationid: string;
  /** The cause: empty for nobody, a name (`admin`), or a kind and an id (`token:4f…`, `run:12.3#1`, `agent:gpu-7`). */
  readonly authid: string;
  readonly traceparent: string;
};

export type AppendRequest = {
  /** A UUID, unique within the role. Derived from what caused the commit, so that a repeat is recognised. */
  readonly commitId: string;
  /** The written streams: at most 256, each once. The list may be empty when there is a cursor. */
  readonly writes: readonly StreamWrite[];
  readonly guards: readonly StreamGuard[];
  readonly cursor?: CursorMove;
  readonly fence?: Fence;
  /**
   * The newest event that the caller knows, on which the commit may rest. A log that does not have it went back since:
   * nothing is written, and a Fault `log_rewound` is thrown.
   */
  readonly seen?: SeenEvent;
  readonly meta: CommitMeta;
};

export type WrittenStream = { readonly stream: string; readonly version: number };

export type AppendResult =
  | {
      readonly kind: "committed";
      /** The position of the commit's last event; 0 when it wrote none. */
      readonly position: number;
      /** The streams written, with their versions after this commit. */
      readonly streams: readonly WrittenStream[];
      /** The commit id had been seen before: this is the first result. */
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
      /** body_too_large, too_many_writes, not_owner, empty, duplicate_stream, invalid */
      readonly code: string;
      readonly detail: string;
    };

/** An event as it is read back. */
export type StoredEvent = {
  readonly position: number;
  readonly stream: string;
  /** 1 for a stream's first event. */
  readonly version: number;
  readonly id: string;
  readonly type: string;
  /** Milliseconds since 1970. */
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
  /** How long it holds from the moment of the answer, by the database's clock. */
  readonly remainingMs: number;
};

/**
 * The end of the log at a moment, kept elsewhere: a log that has lost or changed anything before it does not hold it.
 */
export type LogAnchor = {
  readonly position: number;
  /** The hash of the commit that ends there, hexadecimal; zeros at position 0. */
  readonly hash: string;
};

export type VerifyFinding = { readonly position: number; readonly detail: string };

/** Streams by their names, and by the beginnings of their names. */
export type SomeStreams = {
  readonly names: readonly string[];
  readonly beginnings: readonly string[];
};

export type SomeEvents = { readonly events: readonly StoredEvent[]; readonly scannedTo: number };

export interface EventLog extends AsyncDisposable {
  append(request: AppendRequest): Promise<AppendResult>;

  /** A stream's events after `afterVersion`, in order, at most `limit`. */
  read(stream: string, afterVersion: number, limit: number): Promise<readonly StoredEvent[]>;

  /**
   * The version of a stream's last event; 0 for a stream without any. Versions have no gaps, and neither have
   * positions: the last `n` events before version `v` are `read(stream, v - 1 - n, n)`.
   */
  lastVersion(stream: string): Promise<number>;

  /** All events after a position, in order, at most `limit`. */
  readAll(afterPosition: number, limit: number): Promise<readonly StoredEvent[]>;

  /**
   * The events among the next `window` positions after one whose streams are asked for, in order, and how far was
   * looked: the others are not sent. Nothing more is there yet when that is less than `afterPosition + window`.
   */
  readSome(streams: SomeStreams, afterPosition: number, window: number): Promise<SomeEvents>;

  /** The last position; 0 for an empty log. */
  head(): Promise<number>;

  /**
   * Calls back whenever the head may have moved, soon after it did (LISTEN/NOTIFY; a poll as the fallback).
   * Only a hint: it may come late, twice or for nothing.
   */
  onAppended(callback: () => void): Promise<AsyncDisposable>;

  /** The cursor; {0, 0} for a consumer that never moved one. */
  cursor(consumer: string, partition: number): Promise<CursorState>;

  /** Moves a cursor that caused nothing: no lock, no position. A move backwards is ignored. `seen` as in `append`. */
  moveCursor(move: CursorMove, fence?: Fence, seen?: SeenEvent): Promise<void>;

  parked(consumer?: string): Promise<readonly ParkedRow[]>;

  /**
   * Takes, keeps or takes over a lease; null while another owner's has not expired. A new holder gets a new epoch. A
   * lease that ends later than its holder could have asked for counts as expired: the clock that granted it was ahead.
   */
  acquireLease(lease: string, owner: string, ttlMs: number): Promise<Lease | null>;
  /** Gives it up at once, so that a standby need not wait. */
  releaseLease(lease: string, owner: string): Promise<void>;

  /** A disposable fold, to start from. Only the owner of the stream's category writes one. */
  saveSnapshot(stream: string, version: number, schema: string, body: string): Promise<void>;
  loadSnapshot(
    stream: string,
    schema: string,
  ): Promise<{ readonly version: number; readonly body: string } | null>;
  /**
   * Removes the saved folds of a stream that nobody folds any more, of all schemas. Only the owner of its category may.
   */
  dropSnapshots(stream: string): Promise<void>;

  /** Walks the hash chain from a position (0 for the start); yields what does not hold, and ends. */
  verify(
    afterPosition: number,
    onProgress?: (position: number) => void,
  ): AsyncIterable<VerifyFinding>;

  /** The end of the log as it is now. */
  anchor(): Promise<LogAnchor>;
  /**
   * The evidence that the log is not what it was when the anchor was taken; null when its commit is there. With
   * `verify`, which proves what is before that commit, nothing up to the anchor can be missing or changed.
   */
  checkAnchor(anchor: LogAnchor): Promise<VerifyFinding | null>;

  /**
   * How far the newest commit's time is ahead of the database's clock; 0 when it is not. Times never go back, so after
   * a clock that was ahead all events carry one time until the clock has caught up.
   */
  timeAheadMs(): Promise<number>;
}
