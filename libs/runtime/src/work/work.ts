/**
 * One unit of work: what a command or a reaction read, decided and will write, committed as one append.
 *
 * A handler loads states, decides, and may guard what it only read. Its own decisions are visible to its later loads.
 * Nothing is written before the handler returns, except at `part()`, so a handler may be run again from the start on
 * fresh states whenever a stream had moved: it must do nothing but load and decide.
 */
import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import { newEventId, type StreamGuard, type StreamWrite } from "@trainyard/event-log";
import { isRejection, type Rejection, streamName } from "@trainyard/kernel";
import type { FoldCache } from "../folds/fold-cache.ts";
import { type Aggregate, foldOf, type StreamFold } from "../folds/folds.ts";
import { type Machine, type MachineFold, SharedMachine } from "../folds/machines.ts";

export interface Work {
  /** A stream's state, with what this work has decided so far. */
  load<State>(fold: StreamFold<State>, id: string): Promise<State>;
  /** The same, and the commit holds only if the stream has not moved since. */
  guard<State>(fold: StreamFold<State>, id: string): Promise<State>;
  /** Decides on an own stream; the events become part of this work. A rejection writes nothing. */
  decide<State, Command, Event extends AnyEvent>(
    aggregate: Aggregate<State, Command, Event>,
    id: string,
    command: Command,
  ): Promise<readonly Event[] | Rejection>;
  /** The same on a stream that a machine folds. */
  decide<State extends Machine>(
    fold: MachineFold<State>,
    id: string,
    command: Parameters<State["decide"]>[0],
  ): Promise<ReturnType<State["decide"]>>;
  /** Looks at a machine, with what this work has decided so far. It moves on afterwards: `look` must not keep it. */
  look<State extends Machine, Seen>(
    fold: MachineFold<State>,
    id: string,
    look: (machine: State) => Seen,
  ): Promise<Seen>;
  /**
   * Takes a stream for one that nobody has written yet, which saves reading it: for a state on which this work decides
   * something in any case. Where the stream is there the commit conflicts, and the next attempt reads it.
   */
  begin<State>(fold: StreamFold<State>, id: string): void;
  /** A place where a large fan-out may be committed so far. What follows must not depend on what was loaded before. */
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
    // Two folds of one stream must depend on one version, or the commit would vouch for the wrong one.
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
   * The next step reacts to a later event of the log: it reads again what this work has neither written nor guarded. A
   * guarded stream keeps its version, so that the commit conflicts where the log has moved it between two steps.
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

  /** A state that is not stale: an append that depends on a stale one would conflict, so fail now. */
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
      // A machine is shared: the events are applied to it whenever this work looks at it.
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

  /** The content of the append. Event ids are drawn here, once per attempt. */
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

  /** The loaded state, and its version. */
  loaded(): ReadonlyMap<string, number> {
    return this.#versions;
  }

  /** After a commit of these writes: the cache applies the events, and the work is empty again. */
  settle(writes: readonly StreamWrite[]): void {
    for (const write of writes) {
      const { stream, expectedVersion } = write;
      const events = this.#decided(stream);
      const states = this.#states.get(stream);
      for (const [name, { state }] of states ?? []) {
        if (!(state instanceof SharedMachine)) continue;
        // The events may have passed by on the log already.
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

/** A stream moved under a decision: drop what is known of it and decide again. */
export class MovedStream extends Error {
  override readonly name = "MovedStream";
  readonly stream: string;
  constructor(stream: string) {
    super(`${stream} moved`);
    this.stream = stream;
  }
}
