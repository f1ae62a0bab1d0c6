/** The state of the memory adapter, shared by all its clients: the same data as the PostgreSQL adapter's tables. */
import { commitHash, genesis, metaText, sha256Hex } from "../../hash.ts";
import type {
  AppendRequest,
  AppendResult,
  CursorState,
  Fence,
  ParkedRow,
  SeenEvent,
  StoredEvent,
} from "../../port.ts";
import type { ChainCommit } from "../../verify-chain.ts";

export type MemoryLease = { owner: string; epoch: number; expiresAtMs: number; ttlMs: number };
export type MemorySnapshot = { readonly version: number; readonly body: string };
export type Committed = Extract<AppendResult, { kind: "committed" }>;

const origin: CursorState = { position: 0, part: 0 };

export const isForward = (from: CursorState, to: CursorState): boolean =>
  to.position > from.position || (to.position === from.position && to.part > from.part);

const resultKey = ({ meta, commitId }: AppendRequest): string => `${meta.source}\n${commitId}`;

export class MemoryStore {
  /** Commits in position order. Tests corrupt them to see the findings of `verify`. */
  readonly commits: ChainCommit[] = [];
  readonly events: StoredEvent[] = [];
  /** Results by the commit's source and id. */
  readonly #results = new Map<string, Committed>();
  readonly leases = new Map<string, MemoryLease>();
  readonly snapshots = new Map<string, MemorySnapshot>();
  readonly listeners = new Set<() => void>();
  readonly #streams = new Map<string, StoredEvent[]>();
  readonly #cursors = new Map<string, CursorState>();
  /** The id of the last commit that moved a cursor without events. */
  readonly #movedBy = new Map<string, string>();
  readonly #parked = new Map<string, ParkedRow>();

  /** Returns a function that restores the present state, like a restored backup. Listeners stay registered. */
  backup(): () => void {
    const lists = [this.commits, this.events].map((list) => [list, [...list]] as const);
    const streams = new Map([...this.#streams].map(([name, events]) => [name, [...events]]));
    const leases = new Map([...this.leases].map(([name, lease]) => [name, { ...lease }]));
    const maps = [this.#results, this.snapshots, this.#cursors, this.#movedBy, this.#parked].map(
      (map) => [map as Map<string, unknown>, new Map<string, unknown>(map)] as const,
    );
    return () => {
      for (const [list, saved] of lists) list.splice(0, list.length, ...(saved as never[]));
      for (const [map, saved] of maps) refill(map, saved);
      refill(this.#streams, new Map([...streams].map(([name, events]) => [name, [...events]])));
      refill(this.leases, new Map([...leases].map(([name, lease]) => [name, { ...lease }])));
    };
  }

  get head(): number {
    return this.commits.at(-1)?.position ?? 0;
  }

  get lastTimeMs(): number {
    return this.commits.at(-1)?.timeMs ?? 0;
  }

  version(stream: string): number {
    return this.#streams.get(stream)?.length ?? 0;
  }

  stream(stream: string): readonly StoredEvent[] {
    return this.#streams.get(stream) ?? [];
  }

  after(position: number, limit: number): readonly StoredEvent[] {
    // Positions have no gaps unless a test corrupted them, so the next event is at its position's index.
    if (this.events[position]?.position === position + 1) {
      return this.events.slice(position, position + limit);
    }
    return this.events.filter((event) => event.position > position).slice(0, limit);
  }

  has({ position, id }: SeenEvent): boolean {
    return this.after(position - 1, 1)[0]?.id === id;
  }

  /** Returns whether the fence's lease is current. A released lease is current until another owner takes it over. */
  holds({ lease, epoch, owner }: Fence): boolean {
    const held = this.leases.get(lease);
    return held?.epoch === epoch && (held.owner === owner || held.owner === "");
  }

  cursor(consumer: string, partition: number): CursorState {
    return this.#cursors.get(`${consumer}/${partition}`) ?? origin;
  }

  moveCursor(consumer: string, partition: number, to: CursorState, commitId: string | null): void {
    const key = `${consumer}/${partition}`;
    if (!isForward(this.cursor(consumer, partition), to)) return;
    this.#cursors.set(key, { position: to.position, part: to.part });
    if (commitId === null) this.#movedBy.delete(key);
    else this.#movedBy.set(key, commitId);
  }

  /** Returns the first result of a commit of this source with the same id. */
  repeatOf(request: AppendRequest, ownCursor: boolean): Committed | undefined {
    const first = this.#results.get(resultKey(request));
    if (first !== undefined) return { ...first, repeated: true };
    const { cursor } = request;
    if (cursor === undefined || !ownCursor) return undefined;
    const moved = this.#movedBy.get(`${cursor.consumer}/${cursor.partition}`);
    if (moved !== request.commitId) return undefined;
    return { kind: "committed", position: 0, streams: [], repeated: true };
  }

  /** Applies an accepted commit. */
  write(request: AppendRequest, nowMs: number): Committed {
    this.#park(request, nowMs);
    const { cursor } = request;
    const moves =
      cursor !== undefined && isForward(this.cursor(cursor.consumer, cursor.partition), cursor)
        ? cursor
        : undefined;
    const { commitId } = request;
    const empty = request.writes.length === 0;
    if (moves !== undefined) {
      this.moveCursor(moves.consumer, moves.partition, moves, empty ? commitId : null);
    }
    if (empty) return { kind: "committed", position: 0, streams: [], repeated: false };
    const timeMs = Math.max(this.lastTimeMs, nowMs);
    const written = this.#writeEvents(request, timeMs);
    const position = written.at(-1)?.position ?? 0;
    const commit = {
      position,
      timeMs,
      commitId,
      meta: metaText(request.meta),
      cursor:
        moves === undefined
          ? null
          : {
              consumer: moves.consumer,
              partition: moves.partition,
              position: moves.position,
              part: moves.part,
            },
    };
    const hash = commitHash(this.commits.at(-1)?.hash ?? genesis, {
      ...commit,
      events: written.map((event) => ({ ...event, bodySha256: sha256Hex(event.body) })),
    });
    this.commits.push({ ...commit, count: written.length, hash });
    const streams = request.writes.map(({ stream }) => ({ stream, version: this.version(stream) }));
    const result: Committed = { kind: "committed", position, streams, repeated: false };
    this.#results.set(resultKey(request), result);
    return result;
  }

  #writeEvents(request: AppendRequest, timeMs: number): readonly StoredEvent[] {
    const written: StoredEvent[] = [];
    let position = this.head;
    for (const write of request.writes) {
      const stream = this.#streams.get(write.stream) ?? [];
      this.#streams.set(write.stream, stream);
      for (const event of write.events) {
        position += 1;
        const stored: StoredEvent = {
          position,
          stream: write.stream,
          version: stream.length + 1,
          id: event.id,
          type: event.type,
          timeMs,
          commitId: request.commitId,
          meta: request.meta,
          body: event.body,
        };
        stream.push(stored);
        written.push(stored);
        this.events.push(stored);
      }
    }
    return written;
  }

  #park({ cursor }: AppendRequest, nowMs: number): void {
    if (cursor === undefined) return;
    const { consumer, partition } = cursor;
    const keyOf = (position: number): string => `${consumer}/${partition}/${position}`;
    for (const position of cursor.unpark ?? []) this.#parked.delete(keyOf(position));
    for (const { position, key, reason } of cursor.park ?? []) {
      const row = { consumer, partition, position, key, reason, parkedAtMs: nowMs };
      this.#parked.set(keyOf(position), row);
    }
  }

  parked(consumer: string | undefined): readonly ParkedRow[] {
    return [...this.#parked.values()]
      .filter((row) => consumer === undefined || row.consumer === consumer)
      .sort(
        (a, b) =>
          (a.consumer < b.consumer ? -1 : a.consumer > b.consumer ? 1 : 0) ||
          a.partition - b.partition ||
          a.position - b.position,
      );
  }
}

function refill<Value>(map: Map<string, Value>, saved: ReadonlyMap<string, Value>): void {
  map.clear();
  for (const [key, value] of saved) map.set(key, value);
}
