/**
 * Tests of a decider as sentences: given(decider, …events).when(command).then(…events). The given events are folded, so
 * that a test names a history, not a state. The assertions need no test runner.
 */
import assert from "node:assert/strict";
import { type Decider, fold, isRejection, type Rejection } from "@trainyard/kernel";

export type Decided<Event> = {
  /** Expects exactly these events. */
  then(...events: readonly Event[]): void;
  /** Expects no events: the command is fulfilled already. */
  thenNothing(): void;
  thenRejected(code: string): void;
  /** Returns the decided events, for checks that `then` cannot express. */
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
