import type { AnyEvent } from "@trainyard/contracts";
import type { Decider } from "@trainyard/kernel";

/** Encodes a state as JSON text, so that a long stream need not be folded from its start. */
export type SnapshotCodec<State> = {
  /** The name of the format: a snapshot of another format is ignored. */
  readonly schema: string;
  encode(state: State): string;
  /** Returns null for a text that cannot be used; the stream is then folded from its start. */
  decode(text: string): State | null;
};

/** A fold of one category of streams, which may belong to another owner. */
export type StreamFold<State> = {
  /** The name of the fold, unique within the service. */
  readonly name: string;
  readonly category: string;
  readonly initial: State;
  /**
   * Applies any event of the category and ignores irrelevant ones. It is a method, so that folds of all states fit in
   * one table.
   */
  evolve(state: State, event: AnyEvent): State;
  readonly snapshot?: SnapshotCodec<State>;
};

/** A category that this service owns: its fold and its decisions. */
export type Aggregate<State, Command, Event extends AnyEvent> = {
  readonly name: string;
  readonly category: string;
  readonly decider: Decider<State, Command, Event>;
  readonly snapshot?: SnapshotCodec<State>;
};

/**
 * Returns the fold of an aggregate. The narrower event type is safe because the aggregate's streams contain only its
 * events.
 */
export function foldOf<State, Command, Event extends AnyEvent>(
  aggregate: Aggregate<State, Command, Event>,
): StreamFold<State> {
  const { evolve, initial } = aggregate.decider;
  const { snapshot } = aggregate;
  return {
    name: aggregate.name,
    category: aggregate.category,
    initial,
    evolve: (state, event) => evolve(state, event as Event),
    ...(snapshot === undefined ? {} : { snapshot }),
  };
}
