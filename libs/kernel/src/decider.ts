/** The domain's refusal: a code that is part of the API, a sentence that is not, and for a document the wrong keys. */
export type Rejection = {
  readonly rejected: string;
  readonly detail: string;
  readonly problems?: readonly FieldProblem[];
};

export type FieldProblem = { readonly path: string; readonly detail: string };

/**
 * A domain as a pure fold. `decide` never throws; an empty list of events means that the command is fulfilled already.
 * Source of the form: Chassaing, "Functional event sourcing decider", 2021.
 */
export type Decider<State, Command, Event> = {
  readonly initial: State;
  readonly decide: (state: State, command: Command) => readonly Event[] | Rejection;
  readonly evolve: (state: State, event: Event) => State;
};

export function reject(
  rejected: string,
  detail: string,
  problems?: readonly FieldProblem[],
): Rejection {
  return problems === undefined ? { rejected, detail } : { rejected, detail, problems };
}

export function isRejection(value: object): value is Rejection {
  return "rejected" in value;
}

export function fold<State, Event>(
  evolve: (state: State, event: Event) => State,
  state: State,
  events: Iterable<Event>,
): State {
  let folded = state;
  for (const event of events) folded = evolve(folded, event);
  return folded;
}
