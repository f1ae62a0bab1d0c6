/**
 * Findings about a space whose keys are valid one by one: few or none of the sampled points satisfy the constraints, or
 * a given point does not. The sampled points are those that a search draws when its own draws are refused, so an
 * accepted space has a point for every trial.
 */
import {
  configLimits,
  gridSize,
  type HyperparameterSpace,
  isTyped,
  type JsonObject,
  type NormalisedConfig,
  type SearcherConfig,
  searcherFacts,
} from "@trainyard/experiment-config";
import type { FieldProblem } from "@trainyard/kernel";
import { newestAlgorithm } from "../algorithms/registry.ts";
import { Derived } from "../derived.ts";
import { searchLimits } from "../limits.ts";
import type { SearchedSpace } from "../state.ts";
import {
  firstDrawn,
  warmStartPoints,
  warmStartTrials,
  includesValues,
  probe,
} from "../space/points.ts";
import { gridPoint } from "../space/space.ts";
import { withoutAbsent } from "../space/rules/conditions.ts";
import { brokenConstraints, isAllowed, isConstrained } from "../space/rules/constraints.ts";
import { gridOf } from "../space/rules/grid.ts";

export type SpaceFindings = {
  readonly problems: readonly FieldProblem[];
  readonly warnings: readonly FieldProblem[];
};

export function spaceFindings(
  config: Pick<NormalisedConfig, "searcher" | "hyperparameters">,
): SpaceFindings {
  const { hyperparameters: space, searcher } = config;
  const searched = { space, searcher, derived: new Derived() };
  const problems: FieldProblem[] = [];
  const warnings: FieldProblem[] = [];
  if (searcher.name === "grid") problems.push(...gridProblems(searched, searcher.max_trials));
  else if (isConstrained(searched)) {
    const { allowed, tried } = tryPoints(searched);
    if (allowed === 0) {
      const refused = whichRefuses(searched, (number) => probe(searched, number, {}));
      const detail = `are satisfied by none of ${tried} sampled points; ${refused}: widen the constraint, or narrow the hyperparameters to where it holds`;
      problems.push({ path: "searcher.constraints", detail });
    } else if (allowed * RARE < tried) {
      const detail = `are satisfied by only ${allowed} of ${tried} sampled points: the search draws again until one satisfies them`;
      warnings.push({ path: "searcher.constraints", detail });
    }
  }
  const { name, warm_start: warmStart } = searcher;
  const { ownPoints } = searcherFacts(name);
  const trials = trialsOf(searcher);
  if (ownPoints === null) {
    if (problems.length === 0) problems.push(...givenProblems(searched));
    const given = warmStartTrials(searched);
    if (given > trials) {
      const detail = `are ${given}, but the search has only ${trials} trials: it does not try the last of them`;
      warnings.push({ path: "searcher.warm_start.points", detail });
    }
  } else if (warmStartTrials(searched) > 0) {
    const detail = `has no effect in a ${name} search, ${ownPoints}`;
    warnings.push({ path: "searcher.warm_start.points", detail });
  }
  if (newestAlgorithm(name)?.learns === true && trials > 1 && !hasChoice(space)) {
    const detail = `have one value each: the searcher ${name} has nothing to choose, and its ${trials} trials train the same`;
    warnings.push({ path: "hyperparameters", detail });
  }
  if (warmStart?.experiments !== undefined && newestAlgorithm(name)?.learns !== true) {
    const detail = `has no effect in the searcher ${name}, which does not learn from trials of other searches`;
    warnings.push({ path: "searcher.warm_start.experiments", detail });
  }
  return { problems, warnings };
}

/** Whether a hyperparameter has more than one value. */
function hasChoice(space: HyperparameterSpace): boolean {
  return Object.values(space).some((node) => {
    if (!isTyped(node)) return hasChoice(node);
    return node.type === "categorical" ? node.vals.length > 1 : node.type !== "const";
  });
}

/** The number of trials, as far as the configuration sets it; otherwise infinite. */
function trialsOf(searcher: SearcherConfig): number {
  if (searcherFacts(searcher.name).hasOneTrial) return 1;
  const trials = "max_trials" in searcher ? (searcher.max_trials ?? 0) : 0;
  return trials > 0 ? trials : Number.POSITIVE_INFINITY;
}

/** A space gets a warning if fewer than one in this many points satisfy the constraints. */
const RARE = 100;
/** The sampled points, enough to notice that few are allowed. */
const TRIED_MIN = 1_000;

/**
 * Counts the allowed points among `TRIED_MIN` samples; if none is allowed, samples on until one is or the limit is
 * reached.
 */
function tryPoints(searched: SearchedSpace): { readonly allowed: number; readonly tried: number } {
  let allowed = 0;
  let tried = 0;
  while (tried < TRIED_MIN || (allowed === 0 && tried < searchLimits.attemptsPerPointMax)) {
    if (isAllowed(searched, probe(searched, tried, {}))) allowed += 1;
    tried += 1;
  }
  return { allowed, tried };
}

/** Names the constraint that refuses most of `TRIED_MIN` points. */
function whichRefuses(
  searched: SearchedSpace,
  pointAt: (number: number, of: number) => JsonObject,
): string {
  const texts = searched.searcher.constraints ?? [];
  const counts = texts.map(() => 0);
  for (let number = 0; number < TRIED_MIN; number += 1) {
    for (const index of brokenConstraints(searched, pointAt(number, TRIED_MIN))) {
      counts[index] = (counts[index] ?? 0) + 1;
    }
  }
  const most = counts.indexOf(Math.max(...counts));
  return `${JSON.stringify(texts[most] ?? "")} refuses most, ${counts[most] ?? 0} of ${TRIED_MIN}`;
}

function gridProblems(
  searched: SearchedSpace,
  maxTrials: number | undefined,
): readonly FieldProblem[] {
  const { size, complete } = gridOf(searched);
  if (!complete) {
    const detail = `make a grid that is too large to check conditions and constraints at each point`;
    return [{ path: "hyperparameters", detail }];
  }
  if (Math.min(size, maxTrials ?? size) > configLimits.trialsPerSearchMax) {
    const detail = `make a grid of ${size} points; the limit is ${configLimits.trialsPerSearchMax}`;
    return [{ path: "hyperparameters", detail }];
  }
  if (size > 0) return [];
  const refused = whichRefuses(searched, (number, of) => {
    const all = gridSize(searched.space);
    const index = Math.min(all - 1, Math.floor((number * all) / of));
    return withoutAbsent(searched.space, gridPoint(searched.space, index));
  });
  return [{ path: "searcher.constraints", detail: `exclude every point of the grid: ${refused}` }];
}

/** The most given points that are reported, since checking one may cost as many draws as an impossible space. */
const GIVEN_PROBLEMS_MAX = 3;

function givenProblems(searched: SearchedSpace): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [index, given] of warmStartPoints(searched).entries()) {
    if (problems.length === GIVEN_PROBLEMS_MAX) break;
    if (firstDrawn(searched, given) !== null) continue;
    problems.push({
      path: `searcher.warm_start.points[${index}]`,
      detail: whyNotGiven(searched, given),
    });
  }
  return problems;
}

function whyNotGiven(searched: SearchedSpace, given: JsonObject): string {
  const point = probe(searched, 0, given);
  if (!includesValues(point, given)) {
    return "gives a hyperparameter that does not exist at this point: its condition is false";
  }
  const [first = 0] = brokenConstraints(searched, point);
  return `does not satisfy the constraint ${JSON.stringify(searched.searcher.constraints?.[first] ?? "")}`;
}
