import { type AnyEvent, decodeEvent } from "@trainyard/contracts";
import type { EventLog, StoredEvent } from "@trainyard/event-log";
import { assert, streamName } from "@trainyard/kernel";
import { LRUCache } from "lru-cache";
import type { StreamFold } from "./folds.ts";
import { type Machine, type MachineFold, SharedMachine } from "./machines.ts";
import { runtimeLimits } from "../limits.ts";
import { isOfThisLog, ofAnotherHistory, withEvent, withoutEvent } from "./saved-fold.ts";
import type { Logger } from "../service/logging.ts";

export type Loaded<State> = { readonly state: State; readonly version: number };

/** What the cache keeps of one stream by one fold. */
type Entry<State = unknown> = {
  readonly fold: { readonly name: string; readonly category: string };
  state: State;
  version: number;
  /** Of the event at the version; empty where it was not seen. */
  eventId: string;
  readonly advance: (state: State, event: AnyEvent) => State;
};

/** How a fold begins, and how it goes on from one event to the next. */
type FoldSteps<State> = {
  readonly fold: Entry["fold"];
  readonly beginning: () => State;
  readonly advance: (state: State, event: AnyEvent) => State;
  readonly schema: string | undefined;
  readonly decode: (text: string, version: number) => State | null;
};

function stepsOfState<State>(fold: StreamFold<State>): FoldSteps<State> {
  return {
    fold,
    beginning: () => fold.initial,
    advance: (state, event) => fold.evolve(state, event),
    schema: fold.snapshot?.schema,
    decode: (text) => fold.snapshot?.decode(text) ?? null,
  };
}

function stepsOfMachine<State extends Machine>(
  fold: MachineFold<State>,
): FoldSteps<SharedMachine<State>> {
  return {
    fold,
    beginning: () => new SharedMachine(fold.create(), 0),
    advance: (machine, event) => {
      machine.advance(event);
      return machine;
    },
    schema: fold.snapshot?.schema,
    decode: (text, version) => {
      const machine = fold.snapshot?.decode(text) ?? null;
      return machine === null ? null : new SharedMachine(machine, version);
    },
  };
}

/**
 * The states of streams, folded once and kept. Entries may be stale: an append names the version that its decision rests
 * on, and a conflict evicts the entry. `observe` keeps entries level with the events that pass by.
 */
export class FoldCache {
  readonly #log: EventLog;
  readonly #streams: LRUCache<string, Map<string, Entry>>;
  /** The newest versions that passed by, for a fold that was being read meanwhile and would miss them. */
  readonly #passed: LRUCache<string, number>;
  readonly #logger: Logger | null;
  #clearings = 0;

  /** The logger hears of saved folds that are not used. */
  constructor(
    log: EventLog,
    foldsMax: number = runtimeLimits.cachedFoldsMax,
    logger: Logger | null = null,
  ) {
    this.#log = log;
    this.#logger = logger;
    this.#streams = new LRUCache({ max: foldsMax });
    this.#passed = new LRUCache({ max: foldsMax });
  }

  async load<State>(fold: StreamFold<State>, id: string): Promise<Loaded<State>> {
    const { state, version } = await this.#entry(stepsOfState(fold), streamName(fold.category, id));
    return { state, version };
  }

  /** The machine of a stream, which all works share: it names the version that the log has. */
  async machine<State extends Machine>(
    fold: MachineFold<State>,
    id: string,
  ): Promise<SharedMachine<State>> {
    return (await this.#entry(stepsOfMachine(fold), streamName(fold.category, id))).state;
  }

  /** Looks at a machine as the log has it. The machine moves on afterwards: `look` must not keep it. */
  async look<State extends Machine, Seen>(
    fold: MachineFold<State>,
    id: string,
    look: (machine: State) => Seen,
  ): Promise<Seen> {
    const machine = await this.machine(fold, id);
    return look(machine.committed());
  }

  async #entry<State>(steps: FoldSteps<State>, stream: string): Promise<Readonly<Entry<State>>> {
    const kept = this.#streams.get(stream)?.get(steps.fold.name);
    // One fold has one name, so what is kept under it has the fold's type.
    return kept === undefined ? this.#fold(steps, stream) : (kept as Entry<State>);
  }

  async #fold<State>(steps: FoldSteps<State>, stream: string): Promise<Entry<State>> {
    const clearings = this.#clearings;
    const start = await this.#start(steps, stream);
    const { fold, advance: advanced } = steps;
    const entry: Entry<State> = { fold, eventId: "", advance: advanced, ...start };
    let next = this.#page(stream, entry.version);
    for (;;) {
      const page = await next;
      // The next page is on its way while this one is folded.
      const isFull = page.length === runtimeLimits.pageEvents;
      if (isFull) next = this.#page(stream, page.at(-1)?.version ?? entry.version);
      for (const stored of page) advance(entry, decodeEvent(stored), stored.version, stored.id);
      if (isFull) continue;
      if (page.length === 0 || entry.version >= (this.#passed.get(stream) ?? 0)) break;
      next = this.#page(stream, entry.version);
    }
    return clearings === this.#clearings ? this.#keep(stream, entry) : entry;
  }

  #page(stream: string, after: number): Promise<readonly StoredEvent[]> {
    const page = this.#log.read(stream, after, runtimeLimits.pageEvents);
    // One that is not awaited any more, because the page before it could not be folded, fails for nobody.
    page.catch(() => {});
    return page;
  }

  async #start<State>(steps: FoldSteps<State>, stream: string): Promise<Loaded<State>> {
    const beginning = { state: steps.beginning(), version: 0 };
    if (steps.schema === undefined) return beginning;
    const saved = await this.#log.loadSnapshot(stream, steps.schema);
    if (saved === null) return beginning;
    const { version, body } = saved;
    const [event] = await this.#log.read(stream, version - 1, 1);
    if (!isOfThisLog(body, event)) {
      const detail = ofAnotherHistory(stream, version);
      this.#logger?.error({ stream, version, detail }, "saved_fold_ignored");
      return beginning;
    }
    const state = steps.decode(withoutEvent(body), version);
    return state === null ? beginning : { state, version };
  }

  /** Saves what the next holder starts from. Only a shortcut: nothing is lost when it fails. */
  async saveSnapshot<State>(fold: StreamFold<State>, id: string): Promise<void> {
    const { snapshot } = fold;
    assert(snapshot !== undefined, `the fold ${fold.name} has a snapshot's format`);
    const stream = streamName(fold.category, id);
    const { state, version, eventId } = await this.#entry(stepsOfState(fold), stream);
    await this.#save(stream, version, eventId, snapshot.schema, snapshot.encode(state));
  }

  /** The same of a machine, as the log has it. */
  async saveMachine<State extends Machine>(fold: MachineFold<State>, id: string): Promise<void> {
    const { snapshot } = fold;
    assert(snapshot !== undefined, `the fold ${fold.name} has a snapshot's format`);
    const stream = streamName(fold.category, id);
    const { state, version, eventId } = await this.#entry(stepsOfMachine(fold), stream);
    const text = snapshot.encode(state.committed());
    await this.#save(stream, version, eventId, snapshot.schema, text);
  }

  async #save(
    stream: string,
    version: number,
    seenId: string,
    schema: string,
    text: string,
  ): Promise<void> {
    const eventId = seenId || (await this.#log.read(stream, version - 1, 1))[0]?.id;
    await this.#log.saveSnapshot(stream, version, schema, withEvent(text, eventId ?? ""));
  }

  /** Another load of the same stream may have come further meanwhile: then that is what everybody shares. */
  #keep<State>(stream: string, entry: Entry<State>): Entry<State> {
    const folds = this.#streams.get(stream) ?? new Map<string, Entry>();
    const kept = folds.get(entry.fold.name) as Entry<State> | undefined;
    const newest = kept === undefined || kept.version < entry.version ? entry : kept;
    folds.set(entry.fold.name, newest as Entry);
    this.#streams.set(stream, folds);
    return newest;
  }

  /** An event that passed by on the log. */
  observe(stored: StoredEvent): void {
    this.#pass(stored.stream, stored.version);
    const folds = this.#streams.get(stored.stream);
    if (folds === undefined) return;
    let event: AnyEvent | undefined;
    for (const [name, entry] of folds) {
      if (entry.version === stored.version) entry.eventId = stored.id;
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
   * Events of a work that were just committed, the first of them as `version`, and the states that it folded them to
   * already, by the names of the folds.
   */
  committed(
    stream: string,
    version: number,
    events: readonly AnyEvent[],
    work: object,
    folded?: ReadonlyMap<string, { readonly state: unknown }>,
  ): void {
    const last = version + events.length - 1;
    this.#pass(stream, last);
    const folds = this.#streams.get(stream);
    if (folds === undefined) return;
    for (const [name, entry] of folds) {
      if (entry.version >= last) continue;
      if (entry.version !== version - 1) {
        folds.delete(name);
        continue;
      }
      const known = folded?.get(name);
      if (entry.state instanceof SharedMachine) entry.state.commit(work, events);
      else if (known !== undefined) entry.state = known.state;
      else for (const event of events) entry.state = entry.advance(entry.state, event);
      entry.version = last;
      entry.eventId = "";
    }
  }

  /** The newest version that is known to be on the log; 0 for none. */
  passedBy(stream: string): number {
    return this.#passed.get(stream) ?? 0;
  }

  #pass(stream: string, version: number): void {
    if (version > (this.#passed.get(stream) ?? 0)) this.#passed.set(stream, version);
  }

  forget(stream: string): void {
    this.#streams.delete(stream);
  }

  /** The log went back: nothing that is kept is of its history, nor what is just being read. */
  clear(): void {
    this.#clearings += 1;
    this.#streams.clear();
    this.#passed.clear();
  }
}

function advance<State>(
  entry: Entry<State>,
  event: AnyEvent,
  version: number,
  eventId: string,
): void {
  entry.state = entry.advance(entry.state, event);
  entry.version = version;
  entry.eventId = eventId;
}
