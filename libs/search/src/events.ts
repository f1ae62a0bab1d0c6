import type { EventOf } from "@trainyard/contracts";

/** The events of the stream `search-<experiment>`. */
export type SearchEvent = EventOf<
  | "SearchStarted"
  | "TrialProposed"
  | "SuggestionPrepared"
  | "SuggestionMissed"
  | "OperationsPosted"
  | "ObservationRecorded"
  | "CheckpointObserved"
  | "TrialSuspended"
  | "TrialResumed"
  | "TrialStopDecided"
  | "SearchStopDecided"
  | "TrialOutcomeRecorded"
  | "RunUsageRecorded"
  | "SearchTimeNoted"
  | "SearchCompleted"
  | "SearchContinued"
>;
