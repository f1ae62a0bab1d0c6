/**
 * The in-memory adapter of the log, for unit tests and simulations: one log with one client per role. Each call
 * completes in one turn of the event loop, so appends apply in the order of their calls.
 */
import { assert, type Clock, Fault } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { genesis, sha256Hex } from "../../hash.ts";
import { logLimits } from "../../limits.ts";
import { categoryOfStream, consumerOfLease, type LogRoles } from "../../owners.ts";
import { firstPage, isFullPage } from "../../page-size.ts";
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
  VerifyFinding,
} from "../../port.ts";
import { refusalOf } from "../../refusal.ts";
import { anchorFinding, ChainWalk } from "../../verify-chain.ts";
import { judge, Permissions } from "./judge.ts";
import { type MemoryLease, MemoryStore } from "./store.ts";

export type MemoryLogOptions = {
  /** The clock of commit times and leases; default: the machine's. */
  readonly clock?: Pick<Clock, "nowMs">;
  /** The owners of categories; by default every role may do everything. */
  readonly roles?: LogRoles;
  /** Called before a commit is checked. If it throws, the caller gets the error, and nothing is written. */
  readonly beforeCommit?: (request: AppendRequest, role: string) => void | Promise<void>;
  /** Called after a commit was decided. If it throws, the caller gets the error, although the commit was written. */
  readonly afterCommit?: (
    request: AppendRequest,
    result: AppendResult,
    role: string,
  ) => void | Promise<void>;
  /** Called with the method's name before every read, lease and cursor call; may throw a Fault. */
  readonly beforeCall?: (method: keyof EventLog, role: string) => void | Promise<void>;
};

export type MemoryLog = {
  /** Creates a client of this log; disposing of it affects neither the log nor other clients. */
  as(role: string): EventLog;
  /** The stored rows, for tests that corrupt them. */
  readonly store: MemoryStore;
};

export function createMemoryLog(options: MemoryLogOptions = {}): MemoryLog {
  const store = new MemoryStore();
  return { store, as: (role) => new MemoryClient(store, options, role) };
}

const isOf =
  ({ names, beginnings }: SomeStreams) =>
  ({ stream }: StoredEvent): boolean =>
    names.includes(stream) || beginnings.some((beginning) => stream.startsWith(beginning));

class MemoryClient implements EventLog {
  readonly #store: MemoryStore;
  readonly #options: MemoryLogOptions;
  readonly #may: Permissions;
  readonly #callbacks = new Set<() => void>();
  #closed = false;

  constructor(store: MemoryStore, options: MemoryLogOptions, role: string) {
    this.#store = store;
    this.#options = options;
    this.#may = new Permissions(options.roles, role);
  }

  #nowMs(): number {
    return Math.floor((this.#options.clock ?? systemClock).nowMs());
  }

  #assertOpen(): void {
    if (this.#closed) throw new Fault("log_closed", "the log was closed", { retry: "never" });
  }

  async #enter(method: keyof EventLog): Promise<void> {
    this.#assertOpen();
    await this.#options.beforeCall?.(method, this.#may.role);
  }

  #permit(allowed: boolean, what: string): void {
    if (allowed) return;
    const detail = `${this.#may.role} does not own ${what}`;
    throw new Fault("not_permitted", detail, { retry: "never" });
  }

  async append(request: AppendRequest): Promise<AppendResult> {
    const refusal = refusalOf(request);
    if (refusal !== undefined) return refusal;
    this.#assertOpen();
    const { beforeCommit, afterCommit } = this.#options;
    if (beforeCommit !== undefined) await beforeCommit(request, this.#may.role);
    this.#confirm(request.seen);
    const source = this.#may.source ?? request.meta.source;
    const own = { ...request, meta: { ...request.meta, source } };
    const result =
      judge(this.#store, this.#may, own) ?? this.#store.write(clipped(own), this.#nowMs());
    if (result.kind === "committed" && result.position > 0 && !result.repeated) this.#wake();
    if (afterCommit !== undefined) await afterCommit(request, result, this.#may.role);
    return result;
  }

  #confirm(seen: SeenEvent | undefined): void {
    if (seen === undefined || this.#store.has(seen)) return;
    const detail = `the log does not have event ${seen.id} at position ${seen.position}: it lost its last events`;
    throw new Fault("log_rewound", detail, { retry: "later" });
  }

  #wake(): void {
    for (const callback of this.#store.listeners) queueMicrotask(callback);
  }

  async read(stream: string, afterVersion: number, limit: number): Promise<readonly StoredEvent[]> {
    await this.#enter("read");
    return firstPage(this.#store.stream(stream).slice(afterVersion, afterVersion + limit), limit);
  }

  async lastVersion(stream: string): Promise<number> {
    await this.#enter("lastVersion");
    return this.#store.stream(stream).at(-1)?.version ?? 0;
  }

  async readAll(afterPosition: number, limit: number): Promise<readonly StoredEvent[]> {
    await this.#enter("readAll");
    return firstPage(this.#store.after(afterPosition, limit), limit);
  }

  async readSome(streams: SomeStreams, afterPosition: number, window: number): Promise<SomeEvents> {
    await this.#enter("readSome");
    const looked = this.#store.after(afterPosition, window);
    const events = firstPage(looked.filter(isOf(streams)), window);
    const last = isFullPage(events, window) ? events.at(-1) : looked.at(-1);
    return { events, scannedTo: last?.position ?? afterPosition };
  }

  async positionsOf(streams: SomeStreams, afterPosition: number): Promise<readonly number[]> {
    await this.#enter("positionsOf");
    const later = this.#store.after(afterPosition, Number.MAX_SAFE_INTEGER);
    return later.filter(isOf(streams)).map(({ position }) => position);
  }

  async readAt(positions: readonly number[]): Promise<readonly StoredEvent[]> {
    await this.#enter("readAt");
    const events = positions.flatMap((position) =>
      this.#store.after(position - 1, 1).filter((event) => event.position === position),
    );
    return firstPage(events, positions.length);
  }

  async head(): Promise<number> {
    await this.#enter("head");
    return this.#store.head;
  }

  async onAppended(callback: () => void): Promise<AsyncDisposable> {
    await this.#enter("onAppended");
    const entry = (): void => {
      if (this.#callbacks.has(entry)) callback();
    };
    this.#callbacks.add(entry);
    this.#store.listeners.add(entry);
    return {
      [Symbol.asyncDispose]: async () => {
        this.#callbacks.delete(entry);
        this.#store.listeners.delete(entry);
      },
    };
  }

  async cursor(consumer: string, partition: number): Promise<CursorState> {
    await this.#enter("cursor");
    return this.#store.cursor(consumer, partition);
  }

  async moveCursor(move: CursorMove, fence?: Fence, seen?: SeenEvent): Promise<void> {
    assert(move.park === undefined && move.unpark === undefined, "a lazy move parks nothing");
    await this.#enter("moveCursor");
    this.#confirm(seen);
    const outcome = this.#moveOutcome(move, fence);
    if (outcome === undefined) {
      this.#store.moveCursor(move.consumer, move.partition, move, null);
      return;
    }
    const detail = `the cursor of ${move.consumer} was not moved: ${outcome}`;
    throw new Fault(outcome, detail, { retry: "never" });
  }

  #moveOutcome(move: CursorMove, fence: Fence | undefined): string | undefined {
    if (!this.#may.consumer(move.consumer)) return "not_owner";
    if (fence !== undefined && !this.#store.holds(fence)) {
      return "stale_fence";
    }
    return move.position > this.#store.head ? "beyond_head" : undefined;
  }

  async parked(consumer?: string): Promise<readonly ParkedRow[]> {
    await this.#enter("parked");
    return this.#store.parked(consumer);
  }

  async acquireLease(lease: string, owner: string, ttlMs: number): Promise<Lease | null> {
    assert(owner !== "", "a lease has an owner");
    await this.#enter("acquireLease");
    this.#permit(this.#may.consumer(consumerOfLease(lease)), `the lease ${lease}`);
    const nowMs = this.#nowMs();
    const held = this.#store.leases.get(lease);
    const expiresAtMs = nowMs + ttlMs;
    const idleMs = held === undefined ? null : nowMs - held.expiresAtMs + held.ttlMs;
    if (held?.owner === owner) {
      held.expiresAtMs = expiresAtMs;
      held.ttlMs = ttlMs;
      return { lease, owner, epoch: held.epoch, remainingMs: ttlMs, idleMs };
    }
    if (held !== undefined && isHeld(held, nowMs)) return null;
    const epoch = (held?.epoch ?? 0) + 1;
    this.#store.leases.set(lease, { owner, epoch, expiresAtMs, ttlMs });
    return { lease, owner, epoch, remainingMs: ttlMs, idleMs };
  }

  async releaseLease(lease: string, owner: string): Promise<void> {
    await this.#enter("releaseLease");
    this.#permit(this.#may.consumer(consumerOfLease(lease)), `the lease ${lease}`);
    const held = this.#store.leases.get(lease);
    if (held?.owner === owner) held.owner = "";
  }

  async saveSnapshot(stream: string, version: number, schema: string, body: string): Promise<void> {
    await this.#enter("saveSnapshot");
    this.#permit(this.#may.category(categoryOfStream(stream)), stream);
    const key = `${stream}\n${schema}`;
    if ((this.#store.snapshots.get(key)?.version ?? 0) > version) return;
    this.#store.snapshots.set(key, { version, body });
  }

  async loadSnapshot(
    stream: string,
    schema: string,
  ): Promise<{ readonly version: number; readonly body: string } | null> {
    await this.#enter("loadSnapshot");
    return this.#store.snapshots.get(`${stream}\n${schema}`) ?? null;
  }

  async dropSnapshots(stream: string): Promise<void> {
    await this.#enter("dropSnapshots");
    this.#permit(this.#may.category(categoryOfStream(stream)), stream);
    for (const key of this.#store.snapshots.keys()) {
      if (key.startsWith(`${stream}\n`)) this.#store.snapshots.delete(key);
    }
  }

  async *verify(
    afterPosition: number,
    onProgress?: (position: number) => void,
  ): AsyncGenerator<VerifyFinding> {
    await this.#enter("verify");
    const { commits, events } = this.#store;
    const start = commits.findLast((commit) => commit.position <= afterPosition);
    const walk = new ChainWalk(start ?? { position: 0, timeMs: 0, hash: genesis });
    const rest = events.filter(({ position }) => position > walk.position);
    let taken = 0;
    for (const commit of commits.filter(({ position }) => position > walk.position)) {
      const first = taken;
      while (taken < rest.length && (rest[taken]?.position ?? 0) <= commit.position) taken += 1;
      const its = rest.slice(first, taken).map((event) => ({
        ...event,
        commitPosition: commit.position,
        bodySha256: sha256Hex(event.body),
      }));
      yield* walk.step(commit, its);
      onProgress?.(walk.position);
    }
    const end = walk.position;
    yield* walk.end(events.map(({ position }) => position).filter((position) => position > end));
  }

  async anchor(): Promise<LogAnchor> {
    await this.#enter("anchor");
    const last = this.#store.commits.at(-1);
    return { position: last?.position ?? 0, hash: hexOf(last?.hash ?? genesis) };
  }

  async checkAnchor(anchor: LogAnchor): Promise<VerifyFinding | null> {
    await this.#enter("checkAnchor");
    const { commits, head } = this.#store;
    const commit = commits.find(({ position }) => position === anchor.position);
    return anchorFinding(anchor, commit === undefined ? undefined : hexOf(commit.hash), head);
  }

  async timeAheadMs(): Promise<number> {
    await this.#enter("timeAheadMs");
    return Math.max(0, this.#store.lastTimeMs - this.#nowMs());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const callback of this.#callbacks) this.#store.listeners.delete(callback);
    this.#callbacks.clear();
  }
}

const hexOf = (hash: Uint8Array): string => Buffer.from(hash).toString("hex");

/**
 * A lease that ends later than its holder could have requested was granted by a clock that was ahead, so it counts as
 * expired.
 */
function isHeld({ owner, expiresAtMs, ttlMs }: MemoryLease, nowMs: number): boolean {
  return owner !== "" && expiresAtMs > nowMs && expiresAtMs <= nowMs + ttlMs;
}

/** Cuts reasons to the length that the database stores. */
function clipped(request: AppendRequest): AppendRequest {
  const { cursor } = request;
  if (cursor?.park === undefined) return request;
  const park = cursor.park.map((entry) => ({
    ...entry,
    reason: entry.reason.slice(0, logLimits.parkReasonCharactersMax),
  }));
  return { ...request, cursor: { ...cursor, park } };
}
