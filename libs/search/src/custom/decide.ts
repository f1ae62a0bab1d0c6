/**
 * Decides on a batch of operations: OperationsPosted with the new ones, and the decisions of each, in order. A batch is
 * recorded whole or not at all: the first operation that is refused rejects the batch with its id.
 */
import type { JsonObject } from "@trainyard/experiment-config";
import { assertNever, isRejection, type Rejection, reject } from "@trainyard/kernel";
import type { Decision } from "../algorithm.ts";
import type { PostOperations } from "../commands.ts";
import { eventsOf, exhausted, goesOn } from "../decision-events.ts";
import type { SearchEvent } from "../events.ts";
import { searchLimits } from "../limits.ts";
import {
  isOpen,
  isStopped,
  proposedTrials,
  type RunningSearch,
  type SearchState,
  type TrialState,
  trialOf,
} from "../state.ts";
import { lastTime } from "../times.ts";
import type { TriedSearch } from "../tried-search.ts";
import { completePoint } from "./complete-point.ts";
import { intoPlaces, placesFree, targetReached } from "./places.ts";
import { type CustomSearch, isCustom, NO_PLACE, type Posted, postedUnder } from "./state.ts";
import {
  digestOf,
  malformed,
  type OperationResult,
  refused,
  type SearchOperation,
  type Wish,
  type WishOf,
  wishOf,
} from "./operations.ts";

/** An operation and its index in the batch, for error messages. */
type Place = { readonly index: number; readonly operation: SearchOperation };

export function postOperations(
  tried: TriedSearch,
  search: RunningSearch,
  { operations, restsOn }: PostOperations,
): readonly SearchEvent[] | Rejection {
  if (!isCustom(search)) {
    const { algorithm } = search.plan;
    return reject("search_not_custom", `this is a ${algorithm} search, which takes no operations`);
  }
  const wrong = malformed(operations) ?? reused(search, operations);
  if (wrong !== null) return wrong;
  const places = operations
    .map((operation, index) => ({ index, operation }))
    .filter(({ operation }) => postedAs(search, operation) === undefined);
  if (places.length === 0) return [];
  if (search.phase === "completed") return reject("search_completed", "the search is complete");
  if (restsOn !== null && restsOn !== search.version) {
    return reject(
      "search_moved_on",
      `the operations depend on version ${restsOn} of the search, which is at version ${search.version}`,
    );
  }
  const unknown = ofUnknownTrial(search, places);
  if (unknown !== null) return unknown;
  return recorded(tried, search, places, restsOn);
}

/** Decides on each operation in the state that the operations before it have left. */
function recorded(
  tried: TriedSearch,
  search: CustomSearch,
  places: readonly Place[],
  restsOn: number | null,
): readonly SearchEvent[] | Rejection {
  const events: SearchEvent[] = [];
  const record = (more: readonly SearchEvent[]): void => {
    events.push(...more);
    for (const event of more) tried.apply(event);
  };
  const operations = places.map(({ operation }) => operation);
  const rests = restsOn === null ? {} : { restsOn };
  record([{ type: "OperationsPosted", data: { operations, ...rests } }]);
  for (const place of places) {
    const decided = decisionsOf(search, place);
    if (isRejection(decided)) return decided;
    record(eventsOf(search, decided));
    record(eventsOf(search, intoPlaces(search)));
  }
  return goesOn(search) ? events : [...events, exhausted(search)];
}

/** Returns the results of posted operations in order; a search that is not custom has none. */
export function operationResults(
  search: SearchState,
  operations: readonly SearchOperation[],
): readonly OperationResult[] {
  return operations.flatMap((operation) => {
    const posted = postedAs(search, operation);
    return posted === undefined
      ? []
      : [{ id: operation.id, trial: posted.trial, version: posted.version }];
  });
}

function postedAs(search: SearchState, { id }: SearchOperation): Posted | undefined {
  return isCustom(search) ? postedUnder(search.memory, id) : undefined;
}

function reused(search: RunningSearch, operations: readonly SearchOperation[]): Rejection | null {
  for (const [index, operation] of operations.entries()) {
    const known = postedAs(search, operation);
    if (known === undefined || known.digest === digestOf(operation)) continue;
    const detail = `another operation has this id already, posted at version ${known.version}`;
    return refused("operation_id_reused", index, operation, detail);
  }
  return null;
}

/** Checks that named trials exist. A batch may name trials that it proposes itself, by the numbers that follow. */
function ofUnknownTrial(search: RunningSearch, places: readonly Place[]): Rejection | null {
  let known = proposedTrials(search);
  for (const { index, operation } of places) {
    const wish = wishOf(operation);
    const named = "trial" in wish.value ? wish.value.trial : sourceOf(wish);
    if (named !== undefined && (named < 1 || named > known)) {
      const detail = `the search has no trial ${named}, only ${known} so far`;
      return refused("trial_unknown", index, operation, detail);
    }
    if (wish.case === "propose") known += 1;
  }
  return null;
}

function sourceOf(wish: Wish): number | undefined {
  return wish.case === "propose" ? wish.value.startFromTrial : undefined;
}

function decisionsOf(search: CustomSearch, place: Place): readonly Decision[] | Rejection {
  const wish = wishOf(place.operation);
  switch (wish.case) {
    case "propose":
      return propose(search, place, wish.value);
    case "stop":
      return ofOpenTrial(search, place, wish.value.trial, (trial) =>
        isStopped(trial) ? [] : [stopped(place, wish.value.trial, wish.value.reason)],
      );
    case "suspend":
      return ofGoingTrial(search, place, wish.value.trial, () =>
        suspend(search, place, wish.value),
      );
    case "resume":
      return ofGoingTrial(search, place, wish.value.trial, (trial) =>
        resume(search, place, wish.value, trial),
      );
    case "finish":
      return finish(search, place, wish.value);
    case "progress":
      return [];
    default:
      return assertNever(wish, "an operation");
  }
}

function propose(
  search: CustomSearch,
  { index, operation }: Place,
  { hyperparameters, startFromTrial }: WishOf<"propose">,
): readonly Decision[] | Rejection {
  const { trialsMax } = search.plan;
  if (search.finishing) {
    const detail = "the search was finished and takes no more trials";
    return refused("search_finished", index, operation, detail);
  }
  const given = completePoint(search.plan, hyperparameters ?? {});
  if ("problems" in given) {
    const [first] = given.problems;
    const detail = `${below("hyperparameters", first?.path ?? "")} ${first?.detail ?? ""}`;
    const problems = given.problems.map((problem) => ({
      ...problem,
      path: below("propose.hyperparameters", problem.path),
    }));
    return refused("invalid_hyperparameters", index, operation, detail, problems);
  }
  if (trialsMax > 0 && proposedTrials(search) >= trialsMax) {
    const detail = `the search already has ${trialsMax} trials, the limit of max_trials`;
    return refused("too_many_trials", index, operation, detail);
  }
  const evidence = { operation: operation.id };
  return [
    {
      kind: "propose",
      hyperparameters: given.point,
      origin: "client",
      evidence,
      ...(placesFree(search) > 0 ? {} : { waits: true }),
      ...(startFromTrial === undefined ? {} : { startFrom: { trial: startFromTrial, at: null } }),
    },
  ];
}

const below = (parent: string, path: string): string =>
  path === "" ? parent : `${parent}.${path}`;

/** Decides on a trial that has not ended. */
function ofOpenTrial(
  search: RunningSearch,
  { index, operation }: Place,
  number: number,
  decisions: (trial: TrialState) => readonly Decision[],
): readonly Decision[] | Rejection {
  const trial = trialOf(search, number);
  if (trial !== undefined && isOpen(trial)) return decisions(trial);
  return refused("trial_ended", index, operation, `trial ${number} has ended`);
}

/** Decides on a trial that has neither ended nor been stopped. */
function ofGoingTrial(
  search: RunningSearch,
  place: Place,
  number: number,
  decisions: (trial: TrialState) => readonly Decision[],
): readonly Decision[] | Rejection {
  const trial = trialOf(search, number);
  if (trial !== undefined && isStopped(trial)) {
    const trial = trialOf(search, number);
    const detail = `trial ${number} has been stopped`;
    if (trial !== undefined && isOpen(trial)) {
      return refused("trial_ended", place.index, place.operation, detail);
    }
  }
  return ofOpenTrial(search, place, number, decisions);
}

function evidenceOf({ operation }: Place, reason: string): JsonObject {
  return reason === "" ? { operation: operation.id } : { operation: operation.id, reason };
}

function stopped(place: Place, trial: number, reason: string): Decision {
  return { kind: "stop", trial, rule: "client", evidence: evidenceOf(place, reason) };
}

/** Suspends a trial by its client's wish; the trial then does not wait for a place. */
function suspend(
  search: CustomSearch,
  place: Place,
  { trial, reason }: WishOf<"suspend">,
): readonly Decision[] {
  const waitsForClient =
    trialOf(search, trial)?.wanted === "suspended" && !waitsForPlace(search, trial);
  if (waitsForClient) return [];
  return [{ kind: "suspend", trial, rung: 0, rule: "client", evidence: evidenceOf(place, reason) }];
}

function waitsForPlace({ memory }: CustomSearch, trial: number): boolean {
  return memory.goals[trial - 1]?.waits === true;
}

/** Resumes a trial; its goal is already the new one, because applying OperationsPosted has set it. */
function resume(
  search: CustomSearch,
  place: Place,
  { trial, target }: WishOf<"resume">,
  state: TrialState,
): readonly Decision[] {
  const time = lastTime(state.times);
  const reached = time === null ? [] : targetReached(search, trial, time, null);
  if (reached.length > 0) {
    const rests = state.wanted === "suspended" && !waitsForPlace(search, trial);
    return rests ? reached.filter(({ kind }) => kind === "stop") : reached;
  }
  if (state.wanted === "suspended" && placesFree(search) <= 0) {
    return waitsForPlace(search, trial) ? [] : [withoutPlace(search, trial)];
  }
  const evidence = { operation: place.operation.id };
  const until = target ?? Number.POSITIVE_INFINITY;
  return [{ kind: "resume", trial, target: until, rung: 0, rule: "client", evidence }];
}

function withoutPlace({ plan }: RunningSearch, trial: number): Decision {
  const evidence = { max_concurrent_trials: plan.concurrentTrialsMax };
  return { kind: "suspend", trial, rung: 0, rule: NO_PLACE, evidence };
}

function finish(
  search: RunningSearch,
  place: Place,
  { failed, reason, letTrialsEnd }: WishOf<"finish">,
): readonly Decision[] | Rejection {
  if (search.finishing) {
    return refused(
      "search_finished",
      place.index,
      place.operation,
      "the search was finished before",
    );
  }
  const { stopsPerFinishMax } = searchLimits;
  const decisions: Decision[] = [
    {
      kind: "finish",
      rule: "client",
      evidence: evidenceOf(place, reason),
      ...(failed ? { fails: true } : {}),
    },
  ];
  for (let trial = 1; trial <= proposedTrials(search); trial += 1) {
    const state = trialOf(search, trial);
    if (state === undefined || !isOpen(state) || isStopped(state)) continue;
    if (letTrialsEnd && state.wanted === "run") continue;
    if (decisions.length > stopsPerFinishMax) {
      const detail = `finishing would stop more than ${stopsPerFinishMax} trials at once: stop some of them first, or let them end`;
      return refused("too_many_trials", place.index, place.operation, detail);
    }
    decisions.push(stopped(place, trial, reason || "the search was finished"));
  }
  return decisions;
}
