import type { AnyEvent } from "@trainyard/contracts";
import type { Decider } from "@trainyard/kernel";

/** A state as JSON text, so that a long stream need not be folded from its start. */
export type SnapshotCodec<State> = {
  /** Names the format: a snapshot of another one is not looked at. */
  readonly schema: string;
  encode(state: State): string;
  /** Null for a text that cannot be used; then the stream is folded from its start. */
  decode(text: string): State | null;
};

/** A way to read one category of streams: also another owner's, for what a decision depends on. */
export type StreamFold<State> = {
  /** Names the fold within the service; two folds of one category have two names. */
  readonly name: string;
  readonly category: string;
  readonly initial: State;
  /**
   * Takes any event of the category and ignores what does not concern it. A method, so that folds of all states fit one
   * table.
   */
  evolve(state: State, event: AnyEvent): State;
  readonly snapshot?: SnapshotCodec<State>;
};

/** A category that this service owns: the fold together with its decisions. */
export type Aggregate<State, Command, Event extends AnyEvent> = {
  readonly name: string;
  readonly category: string;
  readonly decider: Decider<State, Command, Event>;
  readonly snapshot?: SnapshotCodec<State>;
};

/** The fold of an aggregate. Its own streams hold its own events only, so the narrower type is safe. */
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
