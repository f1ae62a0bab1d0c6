/**
 * Machines: states that are changed in place, for streams whose states are too large to be copied at each event. A cache
 * keeps one machine for each stream, and all works of the process share it.
 */
import type { AnyEvent } from "@trainyard/contracts";
import type { Rejection } from "@trainyard/kernel";
import type { SnapshotCodec } from "./folds.ts";

export interface Machine<Command = never, Event extends AnyEvent = AnyEvent> {
  /** Throws on an event that does not belong to the stream, and is not to be used after that. */
  apply(event: Event): void;
  /** Takes back everything that was applied after the last `keep`. */
  undo(): void;
  /** What has been applied so far is never taken back. */
  keep(): void;
  /** Leaves the machine as it is. */
  decide(command: Command): readonly Event[] | Rejection;
}

/** A category of streams that a service owns, each folded by a machine that also decides. */
export type MachineFold<State extends Machine> = {
  /** Names the fold within the service. */
  readonly name: string;
  readonly category: string;
  /** A machine of no events. */
  create(): State;
  readonly snapshot?: SnapshotCodec<State>;
};

/**
 * The machine of one stream. It is where the log is, or ahead of it by what one work has decided and not committed: that is
 * taken back before anybody else uses the machine, so that a work may be dropped at any time.
 */
export class SharedMachine<State extends Machine = Machine> {
  readonly #machine: State;
  #version: number;
  #ahead: { readonly work: object; events: number } | null = null;

  /** A machine that is where the log is: so many events are in it. */
  constructor(machine: State, version: number) {
    machine.keep();
    this.#machine = machine;
    this.#version = version;
  }

  /** The events of the log that are in it. */
  get version(): number {
    return this.#version;
  }

  /** As the log has it. To be read at once, and not after a pause. */
  committed(): State {
    this.#machine.undo();
    this.#ahead = null;
    return this.#machine;
  }

  /** With the events that a work has decided since. To be read at once, and not after a pause. */
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
    this.#version += 1;
  }

  /** The log has taken the events of a work. */
  commit(work: object, events: readonly AnyEvent[]): void {
    this.ahead(work, events).keep();
    this.#ahead = null;
    this.#version += events.length;
  }
}
