/**
 * Bayesian optimisation by a Gaussian process (`gp/model.ts`) and expected improvement (D. R. Jones, M. Schonlau, W. J.
 * Welch, 1998).
 *
 * The first trials fill the space (a Sobol sequence) until 8 to 10 have ended. A running trial counts with the mean
 * that the model predicts for it (the "kriging believer": D. Ginsbourger, R. Le Riche, L. Carraro, 2010). The search
 * therefore waits for no trial, and no two trials run at one place.
 *
 * The model takes some tens of milliseconds, so a side loop (`suggestions.ts`) asks it ahead of need, for the next
 * trial with the latest results. A free place takes the prepared suggestion if it lacks at most a quarter as many
 * results as trials run. A sequential search therefore uses every result, while many workers continue at once. Without
 * a suggestion the place waits for one; after a timeout the trial gets its point of the Sobol sequence.
 */
import type { SearcherConfig } from "@trainyard/experiment-config";
import type {
  Algorithm,
  Model,
  Observation,
  ProposedPoint,
  Size,
  Suggestion,
} from "../algorithm.ts";
import { wholeTrainings } from "../planned.ts";
import { warmStartTrials } from "../space/points.ts";
import { proposedTrials, type RunningSearch } from "../state.ts";

import { learnedFrom } from "./gp/inputs.ts";
import { suggestionFor } from "./gp/suggestion.ts";
import { axesOfPlan } from "../space/axes.ts";
import { applyToModel, type ModelState, newModelState } from "./model-state.ts";
import { wantedTrials } from "./random.ts";
import { sobolPoints } from "./sobol.ts";
import { suggestionIn } from "./recorded-suggestion.ts";
import { roomFor, topUp } from "./top-up.ts";

/** The number of trials that must end before the model is used: two per axis, within these bounds. */
const STARTUP_MIN = 8;
const STARTUP_MAX = 10;
/** A suggestion may lack one result for each of this many running trials. */
const RUNNING_FOR_ONE_LACKED = 4;

type GpState = ModelState & {
  /** The suggestion that was prepared for the next trial. */
  readonly prepared: Suggestion | null;
};

type GpSearch = RunningSearch<GpState>;

const model: Model<GpState> = {
  question: (search) => {
    if (!isAsked(search)) return null;
    const { plan, version: searchVersion } = search;
    const results = search.memory.ended;
    const trial = proposedTrials(search) + 1;
    return { plan, trial, searchVersion, results, known: learnedFrom(search) };
  },
  answer: suggestionFor,
  waits: (search) =>
    follows(search) && roomFor(search, wantedTrials(search)) > 0 && freshOne(search) === null,
  takes: (search, suggestion) => {
    const { prepared } = search.memory;
    if (!follows(search) || (prepared !== null && prepared.results >= suggestion.results)) {
      return false;
    }
    // While a place waits, a suggestion that is not recent enough is rejected, since it cannot become recent later.
    return roomFor(search, wantedTrials(search)) === 0 || isFresh(search, suggestion);
  },
};

function sizeOf(config: SearcherConfig): Size {
  return config.name === "gp"
    ? { trialsMax: config.max_trials, concurrentTrialsMax: config.max_concurrent_trials }
    : { trialsMax: 1, concurrentTrialsMax: 1 };
}

export const gp: Algorithm<GpState> = {
  name: "gp",
  version: 1,
  learns: true,
  sizeOf,
  planned: (config) => wholeTrainings(config, sizeOf(config).trialsMax),
  initial: (plan) => ({ ...newModelState(plan), prepared: null }),
  apply: (search, event, undo) => {
    applyToModel(search, event, undo);
    if (event.type === "SuggestionPrepared") {
      undo.set(search.memory, "prepared", suggestionIn(event.data));
    } else if (event.type === "TrialProposed" || event.type === "SearchContinued")
      undo.set(search.memory, "prepared", null);
  },
  on: (search, observation) => {
    if (observation.kind === "validated") return [];
    return topUp(search, wantedTrials(search), (trial) => pointFor(search, trial, observation));
  },
  model,
};

/** Returns the trial's point; null if the trial has to wait for its suggestion. */
function pointFor(search: GpSearch, trial: number, observation: Observation): ProposedPoint | null {
  const filling = sobolPoints(search.plan)(trial);
  if (trial <= warmStartTrials(search.plan) || !isLearned(search)) return filling;
  if (observation.kind === "unsuggested" && observation.trial === trial) {
    const { waitedMs } = observation;
    return { ...filling, evidence: { reason: "no_suggestion_in_time", waited_ms: waitedMs } };
  }
  const suggestion = freshOne(search);
  if (suggestion?.trial !== trial) return null;
  const { hyperparameters, origin, searchVersion, results } = suggestion;
  const lacking = search.memory.ended - results;
  const evidence = { search_version: searchVersion, results, lacking, ...suggestion.evidence };
  return { hyperparameters, origin, evidence };
}

/** Whether the next trial's point comes from the model. */
function follows(search: GpSearch): boolean {
  return isLearned(search) && proposedTrials(search) >= warmStartTrials(search.plan);
}

/** Whether enough trials have ended with different results; until then the trials fill the space. */
function isLearned(search: GpSearch): boolean {
  const { ended, ranked } = search.memory;
  const axes = axesOfPlan(search.plan).length;
  const enough = Math.min(STARTUP_MAX, Math.max(STARTUP_MIN, 2 * axes));
  return axes > 0 && ended >= enough && ranked[0]?.score !== ranked.at(-1)?.score;
}

function isFresh(search: GpSearch, { results }: Suggestion): boolean {
  const lacking = search.memory.ended - results;
  return lacking <= Math.floor(search.unended / RUNNING_FOR_ONE_LACKED);
}

function freshOne(search: GpSearch): Suggestion | null {
  const { prepared } = search.memory;
  return prepared !== null && isFresh(search, prepared) ? prepared : null;
}

/** Whether a suggestion with the newest results would be useful now, or when the next trial ends. */
function isAsked(search: GpSearch): boolean {
  const wanted = wantedTrials(search);
  if (!follows(search) || proposedTrials(search) >= wanted) return false;
  const { prepared, ended } = search.memory;
  if (roomFor(search, wanted) > 0) return freshOne(search) === null;
  return prepared?.results !== ended && search.unended > RUNNING_FOR_ONE_LACKED;
}
