/**
 * Applies the search's events to the state of the policies. Reports that are not later than the trial's last are
 * ignored.
 */
import type { EventData } from "@trainyard/contracts";
import type { PbtPolicy } from "@trainyard/experiment-config";
import { assertNever } from "@trainyard/kernel";
import type { SearchEvent } from "../events.ts";
import { insert, remove } from "../ranking.ts";
import { isOpen, isStopped, type SearchPlan, type SearchState, trialOf } from "../state.ts";
import type { UndoLog } from "../undo-log.ts";
import { advance, gone } from "./averages.ts";
import { isLower, placeAmong, rank } from "./lower-quantile.ts";
import { waited } from "./patience.ts";
import { rankedValue } from "./ranked.ts";
import { rulesOf } from "./rules.ts";
import { type EarlyStoppingState, noProgress, type Progress, progressOf } from "./state.ts";

function setProgress(
  memory: EarlyStoppingState,
  trial: number,
  progress: Progress,
  undo: UndoLog,
): void {
  undo.set(memory.trials, trial - 1, progress);
}

type Searching = SearchState & { readonly plan: SearchPlan };

/** Applies an event; `search` is the search before the event. */
export function applyToPolicies(
  memory: EarlyStoppingState,
  event: SearchEvent,
  search: Searching,
  undo: UndoLog,
): void {
  switch (event.type) {
    case "TrialProposed":
      propose(memory, event.data, search, undo);
      break;
    case "ObservationRecorded":
      noteTime(memory, event.data.atMs, search, undo);
      observe(memory, event.data, search, undo);
      break;
    case "TrialStopDecided":
      close(memory, event.data.trial, undo);
      break;
    case "TrialOutcomeRecorded":
      noteTime(memory, event.data.atMs, search, undo);
      close(memory, event.data.trial, undo);
      break;
    case "SearchContinued":
      reopen(memory, event.data.trials, search, undo);
      break;
    case "RunUsageRecorded":
      noteTime(memory, event.data.atMs, search, undo);
      use(memory, event.data, search.plan.slotsPerTrial, undo);
      break;
    case "SearchTimeNoted":
      noteTime(memory, event.data.atMs, search, undo);
      break;
    case "SearchStarted":
    case "SuggestionPrepared":
    case "SuggestionMissed":
    case "OperationsPosted":
    case "CheckpointObserved":
    case "TrialSuspended":
    case "TrialResumed":
    case "SearchStopDecided":
    case "SearchCompleted":
      break;
    default:
      assertNever(event, "the fold of the policies");
  }
}

/** Advances the time, which never decreases, even if events from several clocks arrive in another order. */
function noteTime(
  { usage }: EarlyStoppingState,
  atMs: number | undefined,
  { plan }: Searching,
  undo: UndoLog,
): void {
  if (atMs === undefined || atMs <= usage.at || rulesOf(plan).budget === null) return;
  undo.set(usage, "at", atMs);
}

function propose(
  memory: EarlyStoppingState,
  { number, startFromTrial }: EventData<"TrialProposed">,
  { plan }: Searching,
  undo: UndoLog,
): void {
  if (rulesOf(plan).budget !== null) insert(undo, memory.usage.open, openEntry(number));
  undo.push(memory.trials, noProgress);
  if (startFromTrial === undefined) return;
  const progress = progressOf(memory, startFromTrial);
  const standing = { ...progress.standing, donor: true };
  setProgress(memory, startFromTrial, { ...progress, standing }, undo);
}

/** Reopens trials, so that a budget stops exactly the open ones. */
function reopen(
  memory: EarlyStoppingState,
  again: readonly number[],
  { plan, phase, trials }: Searching,
  undo: UndoLog,
): void {
  if (phase === "completed") {
    for (const [index, trial] of trials.entries())
      if (isOpen(trial)) close(memory, index + 1, undo);
  }
  if (rulesOf(plan).budget === null) return;
  for (const trial of again) {
    remove(undo, memory.usage.open, openEntry(trial));
    insert(undo, memory.usage.open, openEntry(trial));
  }
}

function openEntry(trial: number) {
  return { value: trial, order: 0, trial };
}

/** Records the start or end of a run; a repeated start or end changes nothing. */
function use(
  memory: EarlyStoppingState,
  { trial, started, atMs }: EventData<"RunUsageRecorded">,
  slots: number,
  undo: UndoLog,
): void {
  const { usage } = memory;
  const progress = progressOf(memory, trial);
  const from = progress.runningSince;
  if (started === (from !== null)) return;
  const sign = started ? 1 : -1;
  if (from !== null) undo.set(usage, "spent", usage.spent + slots * Math.max(0, atMs - from));
  undo.set(usage, "slots", usage.slots + sign * slots);
  undo.set(usage, "since", usage.since + sign * slots * (from ?? atMs));
  setProgress(memory, trial, { ...progress, runningSince: started ? atMs : null }, undo);
}

function observe(
  memory: EarlyStoppingState,
  { trial, time, values, repeat, missing }: EventData<"ObservationRecorded">,
  search: Searching,
  undo: UndoLog,
): void {
  const { plan } = search;
  const value = values[plan.metric];
  const before = progressOf(memory, trial);
  if (repeat || missing !== undefined || value === undefined || time <= before.course.time) return;
  const rules = rulesOf(plan);
  const ranked = rankedValue(value, plan.smallerIsBetter);
  let course = gone(before.course, time, ranked);
  if (rules.comparing) {
    const lastTimeOf = (other: number): number => progressOf(memory, other).course.time;
    course = advance(memory.averages, trial, before.course, course, lastTimeOf, undo);
  }
  const patience = rules.patient.map((policy, i) =>
    waited(policy, before.patience[i] ?? null, time, ranked),
  );
  const progress = { ...before, course, patience };
  const state = trialOf(search, trial);
  const member = state !== undefined && isOpen(state) && !isStopped(state);
  const after =
    rules.population.length === 0 || !member
      ? progress
      : inPopulation(memory, trial, progress, ranked, rules.population, undo);
  setProgress(memory, trial, after, undo);
}

/** Ranks a trial in the population; returns its progress with its new standing. */
function inPopulation(
  { population }: EarlyStoppingState,
  trial: number,
  before: Progress,
  value: number,
  policies: readonly PbtPolicy[],
  undo: UndoLog,
): Progress {
  rank(population, trial, before.standing.value, value, undo);
  const streaks = policies.map(({ quantile, grace }, i) => {
    const place = placeAmong(population, trial, value, quantile);
    return before.course.time >= grace && isLower(place) ? (before.streaks[i] ?? 0) + 1 : 0;
  });
  return { ...before, standing: { ...before.standing, value }, streaks };
}

/** Removes a stopped or ended trial from the population and from the trials that a budget must stop. */
function close(memory: EarlyStoppingState, trial: number, undo: UndoLog): void {
  const progress = progressOf(memory, trial);
  const { value } = progress.standing;
  remove(undo, memory.usage.open, openEntry(trial));
  if (value === null) return;
  rank(memory.population, trial, value, null, undo);
  const standing = { ...progress.standing, value: null };
  setProgress(memory, trial, { ...progress, standing }, undo);
}
