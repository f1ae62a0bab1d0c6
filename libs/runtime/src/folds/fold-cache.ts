import { type AnyEvent, decodeEvent } from "@trainyard/contracts";
import {
  type EventLog,
  isFullPage,
  type StoredEvent,
  type StreamWrite,
} from "@trainyard/event-log";
import { assert, idOf, streamName } from "@trainyard/kernel";
import { LRUCache } from "lru-cache";
import type { StreamFold } from "./folds.ts";
import { runtimeLimits } from "../limits.ts";
import { isOfThisLog, ofAnotherHistory, withEvent, withoutEvent } from "./saved-fold.ts";
import type { Logger } from "../logging.ts";

export type Loaded<State> = { readonly state: State; readonly version: number };

/** `eventId` is the id of the event at the version; empty at version 0. */
type Entry = {
  readonly fold: StreamFold<unknown>;
  state: unknown;
  version: number;
  eventId: string;
};

/**
 * A cache of folded streams. Entries may be stale: an append names the version that its decision depends on, and a
 * conflict evicts the entry. `observe` updates entries with the log's new events.
 */
export class FoldCache {
  readonly #log: EventLog;
  readonly #streams: LRUCache<string, Map<string, Entry>>;
  /** The newest observed versions: a fold that is being read meanwhile needs these events too. */
  readonly #passed: LRUCache<string, number>;
  readonly #logger: Logger | null;
  #clearings = 0;
  readonly #followed = new Map<string, StreamFold<unknown>>();

  /** Logs saved folds that are not used. */
  constructor(
    log: EventLog,
    foldsMax: number = runtimeLimits.cachedFoldsMax,
    logger: Logger | null = null,
  ) {
    this.#log = log;
    this.#logger = logger;
    // Not `max`, which allocates all entries at once: most caches stay far smaller.
    const limit = { maxSize: foldsMax, sizeCalculation: () => 1 };
    this.#streams = new LRUCache(limit);
    this.#passed = new LRUCache(limit);
  }

  async load<State>(fold: StreamFold<State>, id: string): Promise<Loaded<State>> {
    const stream = streamName(fold.category, id);
    const kept = this.#kept(fold, stream);
    if (kept !== undefined) return { state: kept.state as State, version: kept.version };
    return this.#fold(fold, stream);
  }

  /** Caches streams of this category from their first observed event on, without reading them. */
  follow(fold: StreamFold<unknown>): void {
    this.#followed.set(fold.category, fold);
  }

  /** Caches the initial state of a stream unless events of it were observed. */
  begin(fold: StreamFold<unknown>, id: string): void {
    const stream = streamName(fold.category, id);
    if (this.#passed.has(stream) || this.#kept(fold, stream) !== undefined) return;
    this.#keep(stream, { fold, state: fold.initial, version: 0, eventId: "" });
  }

  async #fold<State>(fold: StreamFold<State>, stream: string): Promise<Loaded<State>> {
    const clearings = this.#clearings;
    const start = await this.#start(fold, stream);
    const entry: Entry = { fold, ...start };
    let next = this.#page(stream, entry.version);
    for (;;) {
      const page = await next;
      // The next page is requested while this one is folded.
      const isFull = isFullPage(page, runtimeLimits.pageEvents);
      if (isFull) next = this.#page(stream, page.at(-1)?.version ?? entry.version);
      for (const stored of page) advance(entry, decodeEvent(stored), stored.version, stored.id);
      if (isFull) continue;
      if (page.length === 0 || entry.version >= (this.#passed.get(stream) ?? 0)) break;
      next = this.#page(stream, entry.version);
    }
    const newest = clearings === this.#clearings ? this.#keep(stream, entry) : entry;
    return { state: newest.state as State, version: newest.version };
  }

  #page(stream: string, after: number): Promise<readonly StoredEvent[]> {
    const page = this.#log.read(stream, after, runtimeLimits.pageEvents);
    // If the page before it fails, this promise is never awaited, and its failure must be ignored.
    page.catch(() => {});
    return page;
  }

  async #start<State>(
    fold: StreamFold<State>,
    stream: string,
  ): Promise<Loaded<State> & { readonly eventId: string }> {
    const beginning = { state: fold.initial, version: 0, eventId: "" };
    if (fold.snapshot === undefined) return beginning;
    const saved = await this.#log.loadSnapshot(stream, fold.snapshot.schema);
    if (saved === null) return beginning;
    const { version, body } = saved;
    const [event] = await this.#log.read(stream, version - 1, 1);
    if (event === undefined || !isOfThisLog(body, event)) {
      const detail = ofAnotherHistory(stream, version);
      this.#logger?.error({ stream, version, detail }, "saved_fold_ignored");
      return beginning;
    }
    const state = fold.snapshot.decode(withoutEvent(body));
    return state === null ? beginning : { state, version, eventId: event.id };
  }

  /**
   * Saves the state from which the next holder starts. This is only a shortcut, so a failure loses nothing. A state
   * that is evicted before it is written is not saved.
   */
  async saveSnapshot<State>(fold: StreamFold<State>, id: string): Promise<void> {
    assert(fold.snapshot !== undefined, `the fold ${fold.name} has a snapshot's format`);
    const stream = streamName(fold.category, id);
    await this.load(fold, id);
    const entry = this.#kept(fold, stream);
    if (entry === undefined || entry.version === 0) return;
    // Without an await between these lines: a machine's state and the entry's version change only together.
    const { version, eventId } = entry;
    const text = withEvent(fold.snapshot.encode(entry.state as State), eventId);
    await this.#log.saveSnapshot(stream, version, fold.snapshot.schema, text);
  }

  #kept(fold: { readonly name: string }, stream: string): Entry | undefined {
    return this.#streams.get(stream)?.get(fold.name);
  }

  /** A concurrent load of the same stream may be further: all loads continue from the newest entry. */
  #keep(stream: string, entry: Entry): Entry {
    const folds = this.#streams.get(stream) ?? new Map<string, Entry>();
    const kept = folds.get(entry.fold.name);
    const newest = kept === undefined || kept.version < entry.version ? entry : kept;
    folds.set(entry.fold.name, newest);
    this.#streams.set(stream, folds);
    return newest;
  }

  /** Applies a new event of the log. */
  observe(stored: StoredEvent): void {
    if (stored.version === 1) this.#beginFollowed(stored.stream);
    this.#pass(stored.stream, stored.version);
    const folds = this.#streams.get(stored.stream);
    if (folds === undefined) return;
    let event: AnyEvent | undefined;
    for (const [name, entry] of folds) {
      if (entry.version >= stored.version) continue;
      if (entry.version < stored.version - 1) {
        folds.delete(name);
        continue;
      }
      event ??= decodeEvent(stored);
      advance(entry, event, stored.version, stored.id);
    }
  }

  /**
   * Applies the events that this process has just appended to a stream: as written, decoded, and already folded into
   * states by the names of the folds.
   */
  committed(
    { stream, expectedVersion, events: written }: StreamWrite,
    events: readonly AnyEvent[],
    folded?: ReadonlyMap<string, { readonly state: unknown }>,
  ): void {
    const version = expectedVersion + events.length;
    const eventId = written.at(-1)?.id ?? "";
    this.#pass(stream, version);
    const folds = this.#streams.get(stream);
    if (folds === undefined) return;
    for (const [name, entry] of folds) {
      if (entry.version >= version) continue;
      if (entry.version !== expectedVersion) {
        folds.delete(name);
        continue;
      }
      const known = folded?.get(name);
      if (known !== undefined) entry.state = known.state;
      else for (const event of events) entry.state = entry.fold.evolve(entry.state, event);
      entry.version = version;
      entry.eventId = eventId;
    }
  }

  /** Returns the newest version of a stream that was observed in the log; 0 for none. */
  passedBy(stream: string): number {
    return this.#passed.get(stream) ?? 0;
  }

  /** Returns the id of the event at this version, if a cached state ends with it. */
  lastEventOf(stream: string, version: number): string | undefined {
    const folds = this.#streams.get(stream)?.values() ?? [];
    for (const entry of folds) if (entry.version === version && version > 0) return entry.eventId;
    return undefined;
  }

  #beginFollowed(stream: string): void {
    const fold = this.#followed.get(stream.slice(0, stream.indexOf("-")));
    if (fold !== undefined) this.begin(fold, idOf(stream));
  }

  /** Called when a conflict shows that a stream is ahead of its cached state. */
  moved(stream: string, version: number): void {
    this.forget(stream);
    this.#pass(stream, version);
  }

  #pass(stream: string, version: number): void {
    if (version > (this.#passed.get(stream) ?? 0)) this.#passed.set(stream, version);
  }

  forget(stream: string): void {
    this.#streams.delete(stream);
  }

  /** Called after a rewind: all cached states, and those being read, belong to another history. */
  clear(): void {
    this.#clearings += 1;
    this.#streams.clear();
    this.#passed.clear();
  }
}

function advance(entry: Entry, event: AnyEvent, version: number, eventId: string): void {
  entry.state = entry.fold.evolve(entry.state, event);
  entry.version = version;
  entry.eventId = eventId;
}
