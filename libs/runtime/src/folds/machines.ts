/**
 * Machines: states that are changed in place, for streams whose states are too large to be copied at each event. The
 * cache keeps one machine for each stream, and all works of the process share it.
 */
import type { AnyEvent } from "@trainyard/contracts";
import type { Rejection } from "@trainyard/kernel";
import type { SnapshotCodec, StreamFold } from "./folds.ts";

export interface Machine<Command = never, Event extends AnyEvent = AnyEvent> {
  /** Events that have been applied. */
  readonly version: number;
  /** Throws on an event that cannot follow, and is then as it was. */
  apply(event: Event): void;
  /** Takes back everything that was applied after the last `keep`. */
  undo(): void;
  /** Makes everything that has been applied so far permanent. */
  keep(): void;
  /** Leaves the machine as it is. */
  decide(command: Command): readonly Event[] | Rejection;
}

/** A category of streams that a service owns, each folded by a machine that also decides. */
export type MachineFold<State extends Machine> = StreamFold<SharedMachine<State>>;

export function machineFold<State extends Machine>(machines: {
  readonly name: string;
  readonly category: string;
  /** A machine of no events. */
  create(): State;
  readonly snapshot: SnapshotCodec<State>;
}): MachineFold<State> {
  const { name, category, snapshot } = machines;
  return {
    name,
    category,
    /** Each stream begins with a machine of its own. */
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
 * The machine of one stream. It is where the log is, or ahead of it by what one work has decided and not committed:
 * that is undone before anybody else reads the machine, so that a work may be dropped at any time. Read the results of
 * `committed` and `ahead` at once: after an await the machine may have moved on.
 */
export class SharedMachine<State extends Machine = Machine> {
  readonly #machine: State;
  #ahead: { readonly work: object; events: number } | null = null;

  /** A machine that is where the log is. */
  constructor(machine: State) {
    machine.keep();
    this.#machine = machine;
  }

  /** The events of the log that are in it. */
  get version(): number {
    return this.#machine.version - (this.#ahead?.events ?? 0);
  }

  /** Returns the state as the log has it. */
  committed(): State {
    this.#machine.undo();
    this.#ahead = null;
    return this.#machine;
  }

  /** With the events that a work has decided since. */
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

  /** An event of the log. */
  advance(event: AnyEvent): void {
    const machine = this.committed();
    machine.apply(event);
    machine.keep();
  }

  /** The log has taken the events of a work. */
  commit(work: object, events: readonly AnyEvent[]): void {
    this.ahead(work, events).keep();
    this.#ahead = null;
  }
}
