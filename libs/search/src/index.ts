export { acceptExperiment } from "./acceptance/accepted.ts";
export type {
  Algorithm,
  Decision,
  Observation,
  Origin,
  Question,
  Size,
  Suggestion,
} from "./algorithm.ts";
export type {
  CancelSearch,
  ContinueSearch,
  GoWithoutSuggestion,
  OfferSuggestion,
  PostOperations,
  RecordCheckpoint,
  RecordOutcome,
  RecordValidation,
  SearchCommand,
  SearchedConfig,
  StartSearch,
} from "./commands.ts";
export { type Importances, importancesOf } from "./analysis/importance.ts";
export {
  type Moment,
  type PicturedDecision,
  type PicturedTrial,
  PictureRecord,
  type SearchPicture,
} from "./analysis/picture.ts";
export {
  type BestOfTrial,
  bestSoFar,
  type ParetoTrials,
  paretoTrials,
  type Rated,
  SearchRecord,
} from "./analysis/record.ts";
export { operationResults } from "./custom/decide.ts";
export type { OperationResult, SearchOperation } from "./custom/operations.ts";
export { EarlierReader, type EarlierTrial, type EarlierTrials } from "./earlier.ts";
export type { SearchEvent } from "./events.ts";
export {
  type BracketPlan,
  bracketConcurrency,
  bracketTrials,
  type HalvingPlan,
  rungUnits,
} from "./halving/plan.ts";
export { type HalvingMembers, halvingMembers } from "./halving/members.ts";
export { budgetDueAt, hasBudgetOfTime } from "./early-stopping/policy-decisions.ts";
export { searchLimits } from "./limits.ts";
export type { TrialsAt } from "./planned.ts";
export { halvingPlanOf, previewSearch, type SearchPreview } from "./preview.ts";
export { type Difference, type Replay, replaySearch } from "./replay/replay.ts";
export { type Unrecorded, unrecordedBy } from "./replay/unrecorded.ts";
export { type Fate, replayWith, type WhatIf } from "./replay/what-if.ts";
export { curveTable, gridTable } from "./simulation/table-files.ts";
export {
  type BudgetSummary,
  lengthened,
  runOnTable,
  summaryOf,
  type TableRun,
  type TableSettings,
} from "./simulation/table-runs.ts";
export { spaceOfColumns, type Table } from "./simulation/table.ts";
export {
  bestTrialOf,
  continuesTrials,
  type LineSegment,
  lineOf,
  scheduleOf,
} from "./population/lineage.ts";
export {
  incumbents,
  type Simulated,
  type SimulatedTrial,
  simulate,
  type TrialResult,
  type World,
} from "./simulation/simulate.ts";
export { SearchMachine } from "./machine.ts";
export {
  emptyTally,
  endedPlace,
  estimatedFromShare,
  moved,
  newPlace,
  placeAfter,
  progressOf,
  reachedOf,
  reportedPlace,
  type Tally,
  timeLeft,
  type TrialPlace,
  type UnitPlan,
  unitPlanOf,
} from "./progress/index.ts";
export { timesOf } from "./times.ts";
export { gridPoint, sampledPoint, trialSeed } from "./space/space.ts";
export {
  type Best,
  type OutcomeCounts,
  proposedTrials,
  type SearchPlan,
  type SearchState,
  type TrialState,
  type TrialWanted,
  trialOf,
} from "./state.ts";
export {
  answerTo,
  asksForSuggestions,
  awaitedTrial,
  questionOf,
  suggestionOf,
} from "./suggestions.ts";
