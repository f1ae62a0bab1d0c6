/**
 * One unit of work: the reads, decisions and writes of a command or reaction, committed as one append.
 *
 * A handler loads states, decides, and may guard streams that it only read. Its decisions are visible to its later
 * loads. Nothing is written before the handler returns, except at `part()`. After a conflict the handler runs again
 * from the start on new states, so it must do nothing but load and decide.
 */
import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { newEventId, type StreamGuard, type StreamWrite } from "@trainyard/event-log";
import { isRejection, type Rejection, streamName } from "@trainyard/kernel";
import type { FoldCache } from "../folds/fold-cache.ts";
import { type Aggregate, foldOf, type StreamFold } from "../folds/folds.ts";
import { type Machine, type MachineFold, SharedMachine } from "../folds/machines.ts";

export interface Work {
  /** Returns a stream's state, including the events that this work has decided. */
  load<State>(fold: StreamFold<State>, id: string): Promise<State>;
  /** Returns a stream's state; the commit succeeds only if the stream is still unchanged. */
  guard<State>(fold: StreamFold<State>, id: string): Promise<State>;
  /** Decides on a stream of this service; the events become part of this work. A rejection writes nothing. */
  decide<State, Command, Event extends AnyEvent>(
    aggregate: Aggregate<State, Command, Event>,
    id: string,
    command: Command,
  ): Promise<readonly Event[] | Rejection>;
  /** Decides on a stream that a machine folds. */
  decide<State extends Machine>(
    fold: MachineFold<State>,
    id: string,
    command: Parameters<State["decide"]>[0],
  ): Promise<ReturnType<State["decide"]>>;
  /**
   * Reads a machine, including the events that this work has decided. The machine changes afterwards, so `look` must
   * not keep it.
   */
  look<State extends Machine, Seen>(
    fold: MachineFold<State>,
    id: string,
    look: (machine: State) => Seen,
  ): Promise<Seen>;
  /**
   * Assumes that a stream is new, without reading it: for a state on which this work always decides. If the stream
   * exists, the commit conflicts, and the next attempt reads it.
   */
  begin<State>(fold: StreamFold<State>, id: string): void;
  /**
   * Marks a point where a large fan-out may be committed so far. The handler's later decisions must not depend on
   * states loaded before.
   */
  part(): Promise<void>;
}

type Pending = { readonly baseVersion: number; readonly events: AnyEvent[] };
export type Held = { readonly fold: StreamFold<unknown>; state: unknown };

export class BufferedWork implements Work {
  readonly #cache: FoldCache;
  readonly #onPart: (work: BufferedWork) => Promise<void>;
  readonly #states = new Map<string, Map<string, Held>>();
  readonly #versions = new Map<string, number>();
  readonly #pending = new Map<string, Pending>();
  readonly #guards = new Set<string>();

  constructor(cache: FoldCache, onPart: (work: BufferedWork) => Promise<void> = async () => {}) {
    this.#cache = cache;
    this.#onPart = onPart;
  }

  async load<State>(fold: StreamFold<State>, id: string): Promise<State> {
    const stream = streamName(fold.category, id);
    const held = this.#states.get(stream)?.get(fold.name);
    if (held !== undefined) return held.state as State;
    const { state, version } = await this.#cache.load(fold, id);
    const known = this.#versions.get(stream);
    // Two folds of one stream must have the same version, or the commit would check the wrong one.
    if (known !== undefined && known !== version) throw new MovedStream(stream);
    this.#versions.set(stream, version);
    let current = state;
    for (const event of state instanceof SharedMachine ? [] : this.#decided(stream))
      current = fold.evolve(current, event);
    const folds = this.#states.get(stream) ?? new Map<string, Held>();
    folds.set(fold.name, { fold, state: current });
    this.#states.set(stream, folds);
    return current;
  }

  begin<State>(fold: StreamFold<State>, id: string): void {
    this.#cache.begin(fold, id);
  }

  /**
   * The next step processes a later event of the log, so it must read again all streams that this work has neither
   * written nor guarded. A guarded stream keeps its version, so that the commit conflicts if the stream changes between
   * two steps.
   */
  beginStep(): void {
    for (const stream of this.#states.keys()) {
      if (this.#pending.has(stream) || this.#guards.has(stream)) continue;
      this.#states.delete(stream);
      this.#versions.delete(stream);
    }
  }

  async guard<State>(fold: StreamFold<State>, id: string): Promise<State> {
    const state = await this.load(fold, id);
    this.#guards.add(streamName(fold.category, id));
    return state;
  }

  decide<State, Command, Event extends AnyEvent>(
    aggregate: Aggregate<State, Command, Event>,
    id: string,
    command: Command,
  ): Promise<readonly Event[] | Rejection>;
  decide<State extends Machine>(
    fold: MachineFold<State>,
    id: string,
    command: Parameters<State["decide"]>[0],
  ): Promise<ReturnType<State["decide"]>>;
  async decide<State extends Machine, Command, Event extends AnyEvent>(
    owned: Aggregate<State, Command, Event> | MachineFold<State>,
    id: string,
    command: Command & Parameters<State["decide"]>[0],
  ): Promise<readonly AnyEvent[] | Rejection> {
    const stream = streamName(owned.category, id);
    const decided =
      "decider" in owned
        ? owned.decider.decide(await this.#newest(foldOf(owned), id), command)
        : await this.look(owned, id, (machine) => machine.decide(command));
    if (isRejection(decided) || decided.length === 0) return decided;
    this.#record(stream, decided);
    return decided;
  }

  async look<State extends Machine, Seen>(
    fold: MachineFold<State>,
    id: string,
    look: (machine: State) => Seen,
  ): Promise<Seen> {
    const shared = await this.#newest(fold, id);
    const stream = streamName(fold.category, id);
    if (shared.version !== this.#versions.get(stream)) throw new MovedStream(stream);
    return look(shared.ahead(this, this.#decided(stream)));
  }

  /** Returns a state that is not stale: a decision on a stale one would conflict, so it fails at once. */
  async #newest<State>(fold: StreamFold<State>, id: string): Promise<State> {
    const state = await this.load(fold, id);
    const stream = streamName(fold.category, id);
    if (this.#cache.passedBy(stream) > (this.#versions.get(stream) ?? 0)) {
      throw new MovedStream(stream);
    }
    return state;
  }

  #decided(stream: string): readonly AnyEvent[] {
    return this.#pending.get(stream)?.events ?? [];
  }

  #record(stream: string, events: readonly AnyEvent[]): void {
    const pending = this.#pending.get(stream) ?? {
      baseVersion: this.#versions.get(stream) ?? 0,
      events: [],
    };
    pending.events.push(...events);
    this.#pending.set(stream, pending);
    for (const held of this.#states.get(stream)?.values() ?? []) {
      // A shared machine applies pending events itself when it is read.
      if (held.state instanceof SharedMachine) continue;
      for (const event of events) held.state = held.fold.evolve(held.state, event);
    }
  }

  part(): Promise<void> {
    return this.#onPart(this);
  }

  get empty(): boolean {
    return this.#pending.size === 0;
  }

  get events(): number {
    let sum = 0;
    for (const { events } of this.#pending.values()) sum += events.length;
    return sum;
  }

  get streams(): number {
    return this.#pending.size;
  }

  /** Returns the writes of the append. Event ids are generated here, once per attempt. */
  writes(): readonly StreamWrite[] {
    return [...this.#pending].map(([stream, { baseVersion, events }]) => ({
      stream,
      expectedVersion: baseVersion,
      events: events.map((event) => ({ id: newEventId(), ...encodeEvent(event) })),
    }));
  }

  guards(): readonly StreamGuard[] {
    return [...this.#guards]
      .filter((stream) => !this.#pending.has(stream))
      .map((stream) => ({ stream, expectedVersion: this.#versions.get(stream) ?? 0 }));
  }

  /** The loaded streams and their versions. */
  loaded(): ReadonlyMap<string, number> {
    return this.#versions;
  }

  /** Called after these writes are committed: the cache applies the events, and the work is empty again. */
  settle(writes: readonly StreamWrite[]): void {
    for (const write of writes) {
      const { stream, expectedVersion } = write;
      const events = this.#decided(stream);
      const states = this.#states.get(stream);
      for (const [name, { state }] of states ?? []) {
        if (!(state instanceof SharedMachine)) continue;
        // The cache may have received these events from the log already.
        if (state.version === expectedVersion) state.commit(this, events);
        else states?.delete(name);
      }
      this.#cache.committed(write, events, states);
    }
    this.#states.clear();
    this.#versions.clear();
    this.#pending.clear();
    this.#guards.clear();
  }
}

/** A stream changed under a decision: its cached state must be dropped, and the decision repeated. */
export class MovedStream extends Error {
  override readonly name = "MovedStream";
  readonly stream: string;
  constructor(stream: string) {
    super(`${stream} moved`);
    this.stream = stream;
  }
}
