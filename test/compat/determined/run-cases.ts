/** Cases that run a whole search of Determined: as its last release drove it, and as releases before 0.38 did. */
import { TrialOutcome } from "@trainyard/contracts/events";
import type { JsonObject } from "@trainyard/experiment-config";
import { drawInteger } from "@trainyard/kernel";
import { halvingPlanOf, halvingMembers, type SearchEvent } from "@trainyard/search";
import type { Case } from "./case-file.ts";
import { CaseSearch, configOf } from "./driven-search.ts";
import { NotRun } from "./expressible.ts";
import { difference } from "./same.ts";

const mapping = (value: unknown): JsonObject => (value ?? {}) as JsonObject;
const inOrder = (values: readonly unknown[]): string[] =>
  values.map((value) => JSON.stringify(value)).toSorted();

/** Runs one trial after the other, with a report each period, until the first stop. */
function run(one: Case): string | null {
  const search = new CaseSearch(configOf(mapping(one["config"]), one["hyperparameters"]));
  const driver = mapping(one["driver"]);
  const period = Number(driver["period"]);
  const stoppedAt: Record<string, number> = {};
  let metric = 0;
  for (const { number } of search.proposals) {
    for (let time = 0; time <= Number(driver["max_units"]); time += period) {
      metric += driver["increasing"] === true ? 1 : -1;
      if (!stops(search.report(number, time, metric), number)) continue;
      stoppedAt[time] = (stoppedAt[time] ?? 0) + 1;
      break;
    }
    search.end(number);
  }
  const units = halvingPlanOf(search.config.searcher)?.brackets.map((bracket) => bracket.units);
  const rungs = one["expect_rungs"];
  return (
    (rungs === undefined ? null : difference(units, rungs)) ??
    ranAsExpected(search, stoppedAt, mapping(one["expect"]))
  );
}

function stops(events: readonly SearchEvent[], trial: number): boolean {
  return events.some(({ type, data }) => type === "TrialStopDecided" && data.trial === trial);
}

function ranAsExpected(
  search: CaseSearch,
  stoppedAt: Readonly<Record<string, number>>,
  expected: JsonObject,
): string | null {
  const points = search.proposals.map(({ hyperparameters }) => hyperparameters);
  const valuesOf = (name: string): unknown[] => points.map((point) => point[name]);
  const checks: Readonly<Record<string, (value: unknown) => string | null>> = {
    num_trials: (value) => difference(points.length, value),
    stopped_at: (value) => difference(stoppedAt, value),
    none_stopped: () => difference(stoppedAt, {}),
    hparam_bounds: (value) => outOfBounds(mapping(value), valuesOf),
    hparam_multiset: (value) => otherValues(mapping(value), valuesOf),
  };
  for (const [what, value] of Object.entries(expected)) {
    const check = Object.hasOwn(checks, what) ? checks[what] : undefined;
    if (check === undefined) throw new NotRun(`nothing here reads the expectation ${what}`);
    const different = check(value);
    if (different !== null) return different;
  }
  return null;
}

function outOfBounds(bounds: JsonObject, valuesOf: (name: string) => unknown[]): string | null {
  for (const [name, bound] of Object.entries(bounds)) {
    const [least = 0, most = 0] = Array.isArray(bound) ? bound.map(Number) : [];
    const beyond = valuesOf(name).find((value) => Number(value) < least || Number(value) > most);
    if (beyond !== undefined) return `${name} is ${beyond}, expected ${least} to ${most}`;
  }
  return null;
}

function otherValues(sets: JsonObject, valuesOf: (name: string) => unknown[]): string | null {
  for (const [name, values] of Object.entries(sets)) {
    const expected = Array.isArray(values) ? values : [values];
    const found = difference(inOrder(valuesOf(name)), inOrder(expected), name);
    if (found !== null) return found;
  }
  return null;
}

/** A trial's act in an older case: it reports the value, or exits at a length. */
type Scripted = { readonly value: number; readonly leavesAt?: number };

type Job = { readonly trial: number; readonly until: number };

/** Before 0.38 the configuration had a length, and the searcher asked each trial to train up to a length. */
function olderConfig(config: JsonObject) {
  const { max_length, hyperparameters, stop_once, ...rest } = config;
  const halves = rest["name"] === "async_halving" || rest["name"] === "adaptive_asha";
  const searcher = halves
    ? { ...rest, stop_once: stop_once === true, max_time: max_length ?? 0, time_metric: "batches" }
    : rest;
  return configOf(searcher, hyperparameters ?? {});
}

/** The lengths that each trial was asked to train to; `pick` chooses among the waiting jobs. */
function lengthsAskedFor(
  config: JsonObject,
  scriptOf: (trial: number) => Scripted,
  pick: (jobs: number) => number,
): number[][] {
  const search = new CaseSearch(olderConfig(config));
  const halves = halvingPlanOf(search.config.searcher) !== null;
  const asked: number[][] = [];
  const jobs: Job[] = [];
  const firstOf = (trial: number): number => {
    if (!halves) return Number(config["max_length"]);
    const { brackets, trials } = halvingMembers(search.state);
    return brackets[trials[trial - 1]?.bracket ?? 0]?.rungs[0]?.units ?? 0;
  };
  const handle = (events: readonly SearchEvent[]): void => {
    for (const { type, data } of events) {
      if (type === "TrialProposed") jobs.push({ trial: data.number, until: firstOf(data.number) });
      if (type === "TrialResumed") jobs.push({ trial: data.trial, until: data.target });
      if (type === "TrialStopDecided") {
        handle(search.end(data.trial, TrialOutcome.STOPPED_EARLY));
      }
    }
  };
  handle(search.first);
  while (jobs.length > 0) {
    const [job] = jobs.splice(pick(jobs.length), 1);
    if (job === undefined) break;
    const { trial, until } = job;
    asked[trial - 1] = [...(asked[trial - 1] ?? []), until];
    const { value, leavesAt } = scriptOf(trial);
    if (leavesAt === until) {
      handle(search.end(trial, TrialOutcome.CANCELED));
    } else {
      handle(search.report(trial, until, value));
      if (!halves) handle(search.end(trial));
    }
  }
  return asked;
}

type ExpectedTrial = {
  readonly ops: readonly number[];
  readonly metric: number;
  readonly early_exit?: boolean;
};

function valueSimulation(one: Case): string | null {
  const expected = one["expect_trials"] as readonly ExpectedTrial[];
  const scriptOf = (trial: number): Scripted => {
    const { ops = [], metric = 1, early_exit = false } = expected[trial - 1] ?? {};
    const last = ops.at(-1);
    return early_exit && last !== undefined ? { value: metric, leavesAt: last } : { value: metric };
  };
  const asked = lengthsAskedFor(mapping(one["config"]), scriptOf, () => 0);
  return difference(
    asked,
    expected.map(({ ops }) => ops),
  );
}

const ORDERS = 20;

/**
 * Jobs run in random orders. The trials that `stop_once` stops depend on the order, and the case records one result: it
 * is enough that one order gives that result.
 */
function multisetSimulation(one: Case): string | null {
  const expected = inOrder(one["expect_ops_multiset"] as readonly unknown[]);
  const anyOrder = mapping(one["config"])["stop_once"] === true;
  let first: string | null = null;
  for (let order = 0; order < ORDERS; order += 1) {
    const found = difference(inOrder(askedInOrder(one, order)), expected);
    if (anyOrder && found === null) return null;
    if (!anyOrder && found !== null) return `in order ${order}: ${found}`;
    first ??= found;
  }
  return first === null ? null : `in none of ${ORDERS} orders; in the first: ${first}`;
}

/** Order 0 is the order of the jobs' arrival. */
function askedInOrder(one: Case, order: number): number[][] {
  let picked = 0;
  const pick = (jobs: number): number => {
    picked += 1;
    return order === 0 ? 0 : drawInteger(order, "pick", picked, jobs);
  };
  const constant = one["metric"] === "constant";
  const scriptOf = (trial: number): Scripted => ({ value: constant ? 1 : trial });
  return lengthsAskedFor(mapping(one["config"]), scriptOf, pick);
}

export const runChecks: Readonly<Record<string, (one: Case) => string | null>> = { run };

export const olderChecks: Readonly<Record<string, (one: Case) => string | null>> = {
  value_simulation: valueSimulation,
  multiset_simulation: multisetSimulation,
};
