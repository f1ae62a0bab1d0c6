import type { AnyEvent } from "@trainyard/contracts";

/** The trial and the checkpoint that a proposed trial starts from. An empty checkpoint means the trial's latest one. */
export type Proposal = { readonly trial: number; readonly checkpoint: string };

export type SearchFacts = {
  /** The open proposals by the number of their trial. */
  readonly proposals: ReadonlyMap<number, Proposal>;
};

export const unknownSearch: SearchFacts = { proposals: new Map() };

export function evolveSearch(state: SearchFacts, event: AnyEvent): SearchFacts {
  switch (event.type) {
    case "TrialProposed": {
      const { number, startFromTrial: trial, startFromCheckpoint: checkpoint = "" } = event.data;
      if (trial === undefined) return state;
      return { proposals: new Map(state.proposals).set(number, { trial, checkpoint }) };
    }
    case "TrialOutcomeRecorded": {
      if (!state.proposals.has(event.data.trial)) return state;
      const proposals = new Map(state.proposals);
      proposals.delete(event.data.trial);
      return { proposals };
    }
    case "SearchCompleted":
      return unknownSearch;
    default:
      return state;
  }
}
