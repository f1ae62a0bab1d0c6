/**
 * Machines: states that are changed in place, for streams whose states are too large to copy at each event. The cache
 * keeps one machine per stream, and all works of the process share it.
 */
import type { AnyEvent } from "@trainyard/contracts";
import type { Rejection } from "@trainyard/kernel";
import type { SnapshotCodec, StreamFold } from "./folds.ts";

export interface Machine<Command = never, Event extends AnyEvent = AnyEvent> {
  /** The number of applied events. */
  readonly version: number;
  /** Applies an event; throws and changes nothing if it cannot follow. */
  apply(event: Event): void;
  /** Undoes all events since the last `keep`. */
  undo(): void;
  /** Makes all applied events permanent. */
  keep(): void;
  /** Decides without changing the machine. */
  decide(command: Command): readonly Event[] | Rejection;
}

/** A category of streams that a service owns, each folded by a machine that also decides. */
export type MachineFold<State extends Machine> = StreamFold<SharedMachine<State>>;

export function machineFold<State extends Machine>(machines: {
  readonly name: string;
  readonly category: string;
  /** Creates a machine without events. */
  create(): State;
  readonly snapshot: SnapshotCodec<State>;
}): MachineFold<State> {
  const { name, category, snapshot } = machines;
  return {
    name,
    category,
    /** Each stream begins with a separate machine. */
    get initial() {
      return new SharedMachine(machines.create());
    },
    evolve: (machine, event) => {
      machine.advance(event);
      return machine;
    },
    snapshot: {
      schema: snapshot.schema,
      encode: (machine) => snapshot.encode(machine.committed()),
      decode: (text) => {
        const state = snapshot.decode(text);
        return state === null ? null : new SharedMachine(state);
      },
    },
  };
}

/**
 * The machine of one stream. Its state equals the log's, plus the uncommitted events of at most one work. These are
 * undone before another reader uses the machine, so a work may be dropped at any time. Use the results of `committed`
 * and `ahead` without an await in between: afterwards the machine may have changed.
 */
export class SharedMachine<State extends Machine = Machine> {
  readonly #machine: State;
  #ahead: { readonly work: object; events: number } | null = null;

  /** The state of the machine must be that of the log. */
  constructor(machine: State) {
    machine.keep();
    this.#machine = machine;
  }

  /** The number of the log's events in the machine. */
  get version(): number {
    return this.#machine.version - (this.#ahead?.events ?? 0);
  }

  /** Returns the state without uncommitted events. */
  committed(): State {
    this.#machine.undo();
    this.#ahead = null;
    return this.#machine;
  }

  /** Returns the state with the events that a work has decided but not committed. */
  ahead(work: object, events: readonly AnyEvent[]): State {
    if (this.#ahead?.work !== work) this.committed();
    const ahead = this.#ahead ?? { work, events: 0 };
    this.#ahead = ahead;
    for (const event of events.slice(ahead.events)) {
      this.#machine.apply(event);
      ahead.events += 1;
    }
    return this.#machine;
  }

  /** Applies an event of the log. */
  advance(event: AnyEvent): void {
    const machine = this.committed();
    machine.apply(event);
    machine.keep();
  }

  /** Makes the events of a work permanent after the log has accepted them. */
  commit(work: object, events: readonly AnyEvent[]): void {
    this.ahead(work, events).keep();
    this.#ahead = null;
  }
}
