/**
 * A decider as sentences: given(decider, …events).when(command).then(…events). What is given is folded, so that a test
 * names history and never a state. Plain assertions: it runs under any test runner, and under none.
 */
import assert from "node:assert/strict";
import { type Decider, fold, isRejection, type Rejection } from "@trainyard/kernel";

export type Decided<Event> = {
  /** Exactly these events. */
  then(...events: readonly Event[]): void;
  /** Already so. */
  thenNothing(): void;
  thenRejected(code: string): void;
  /** The decided events, for checks that `then` cannot express. */
  events(): readonly Event[];
};

export type Given<State, Command, Event> = {
  readonly state: State;
  when(command: Command): Decided<Event>;
};

export function given<State, Command, Event>(
  decider: Decider<State, Command, Event>,
  ...history: readonly Event[]
): Given<State, Command, Event> {
  const state = fold(decider.evolve, decider.initial, history);
  return { state, when: (command) => decided(decider.decide(state, command)) };
}

function decided<Event>(result: readonly Event[] | Rejection): Decided<Event> {
  const events = (): readonly Event[] => {
    if (isRejection(result)) assert.fail(`rejected: ${result.rejected}, ${result.detail}`);
    return result;
  };
  return {
    then: (...expected) => assert.deepEqual(events(), expected),
    thenNothing: () => assert.deepEqual(events(), []),
    thenRejected: (code) =>
      assert.equal(isRejection(result) ? result.rejected : "not rejected", code),
    events,
  };
}
