/** Cases of Determined's searchers with successive halving: their arithmetic, and their decision at one report. */
import type { JsonObject } from "@trainyard/experiment-config";
import {
  bracketConcurrency,
  bracketTrials,
  halvingPlanOf,
  halvingMembers,
  previewSearch,
  rungUnits,
} from "@trainyard/search";
import type { Case } from "./case-file.ts";
import { CaseSearch, configOf, METRIC } from "./driven-search.ts";
import { difference } from "./same.ts";

const numbers = (value: unknown): number[] => (Array.isArray(value) ? value.map(Number) : []);
const mapping = (value: unknown): JsonObject => (value ?? {}) as JsonObject;

function makeBrackets(one: Case): string | null {
  const searcher = { name: "adaptive_asha", ...mapping(one["config"]) };
  const plan = halvingPlanOf(configOf(searcher).searcher);
  const brackets = plan?.brackets.map(({ units, trials, concurrent }) => ({
    num_rungs: units.length,
    max_trials: trials,
    max_concurrent_trials: concurrent,
  }));
  return difference(brackets, one["expect"]);
}

/** A search with one bracket in its stopping form, and with this number of trials, all of which run. */
function halvingSearch(rungs: number, maxTime: number, divisor: number, trials: number) {
  return new CaseSearch(
    configOf({
      name: "async_halving",
      num_rungs: rungs,
      max_time: maxTime,
      time_metric: "time",
      divisor,
      max_trials: trials,
      max_concurrent_trials: trials,
    }),
  );
}

/** The values are reported to the only rung of a bracket, equal ones in reverse order, and then the new value. */
function insertMetric(one: Case): string | null {
  const existing = numbers(one["existing"]);
  const search = halvingSearch(1, 1, 2, existing.length + 1);
  for (const [at, value] of existing.toReversed().entries()) search.report(at + 1, 1, value);
  const trial = existing.length + 1;
  search.report(trial, 1, Number(one["new_metric"]));
  const entries = halvingMembers(search.state).brackets[0]?.rungs[0]?.entries ?? [];
  return (
    difference(
      entries.findIndex((entry) => entry.trial === trial),
      one["expect_index"],
    ) ??
    difference(
      entries.map(({ value }) => value),
      one["expect_metrics"],
    )
  );
}

function getMetric(one: Case): string | null {
  const metrics = mapping(one["metrics"]) as Readonly<Record<string, number>>;
  const search = new CaseSearch(
    configOf({
      name: "async_halving",
      num_rungs: 1,
      max_time: 1_000_000,
      max_trials: 1,
      metric: String(one["metric"]),
      time_metric: String(one["time_metric"]),
      smaller_is_better: one["smaller_is_better"] !== false,
    }),
  );
  search.reportScalars(1, metrics["batches"] ?? 0, metrics);
  const [trial] = halvingMembers(search.state).trials;
  const counted = (trial?.time ?? Number.MIN_SAFE_INTEGER) > Number.MIN_SAFE_INTEGER;
  if (one["expect_error"] !== undefined) return counted ? "it counted for the search" : null;
  return (
    difference(Math.floor(trial?.time ?? -1), one["expect_time"]) ??
    difference(trial?.value, one["expect_metric"])
  );
}

type RungCase = { readonly units: number; readonly metrics: readonly [string, number][] };

/** Brings a search to the rungs of a case by events, reports, and compares the stopped trials and the rungs. */
function stopTrials(one: Case): string | null {
  const rungs = one["rungs"] as readonly RungCase[];
  const ranks = mapping(one["trial_rungs"]) as Readonly<Record<string, number>>;
  const report = mapping(one["report"]);
  const ids = [
    ...new Set([
      ...Object.keys(ranks),
      ...rungs.flatMap(({ metrics }) => metrics.map(([id]) => id)),
      String(report["trial"]),
    ]),
  ];
  const numberOf = (id: unknown): number => ids.indexOf(String(id)) + 1;
  const longest = rungs.at(-1)?.units ?? 1;
  const search = halvingSearch(rungs.length, longest, Number(one["divisor"]), ids.length);
  for (const [rung, { units, metrics }] of rungs.entries()) {
    for (const [id, value] of metrics.toReversed()) {
      const later = rungs
        .slice(rung + 1)
        .some((higher) => higher.metrics.some(([it]) => it === id));
      const on = later || (ranks[id] ?? 0) > rung;
      arrive(search, numberOf(id), { time: units, value, on, rung });
    }
  }
  const events = search.report(
    numberOf(report["trial"]),
    Number(report["time"]),
    Number(report["metric"]),
  );
  const stops = events.flatMap((event) =>
    event.type === "TrialStopDecided" ? [{ stop: ids[event.data.trial - 1] }] : [],
  );
  const stand = halvingMembers(search.state);
  const shown = stand.brackets[0]?.rungs.map(({ units, entries }) => ({
    units,
    metrics: entries.map(({ trial, value }) => [ids[trial - 1], value]),
  }));
  const rungsOfTrials = Object.fromEntries(
    Object.keys(mapping(one["expect_trial_rungs"])).map((id) => [
      id,
      stand.trials[numberOf(id) - 1]?.rung,
    ]),
  );
  return (
    difference(stops, one["expect_actions"]) ??
    difference(rungsOfTrials, one["expect_trial_rungs"]) ??
    difference(shown, one["expect_rungs"])
  );
}

/** The events in the log of a trial that reached a rung and was promoted, or was stopped there. */
function arrive(
  search: CaseSearch,
  trial: number,
  at: {
    readonly time: number;
    readonly value: number;
    readonly on: boolean;
    readonly rung: number;
  },
): void {
  const { time, value, on, rung } = at;
  const measurement = `${trial} at ${time}`;
  const values = { [METRIC]: value };
  const observed = { trial, run: 1, time, values, measurement, repeat: false };
  search.apply({ type: "ObservationRecorded", data: observed });
  const why = { rule: "halving", evidence: {} };
  if (on) search.apply({ type: "TrialResumed", data: { trial, target: 0, rung, ...why } });
  else search.apply({ type: "TrialStopDecided", data: { trial, ...why } });
}

function simulate(one: Case): string | null {
  const { searcher, hyperparameters } = configOf(mapping(one["config"]), one["hyperparameters"]);
  const total = previewSearch(searcher, hyperparameters).total.map(({ units, trials }) => ({
    count: trials,
    units: units ?? "max_length",
  }));
  return difference(total, one["expect_trials"]);
}

export const halvingChecks: Readonly<Record<string, (one: Case) => string | null>> = {
  bracket_max_trials: (one) =>
    difference(
      bracketTrials(
        Number(one["max_trials"]),
        Number(one["divisor"]),
        numbers(one["bracket_rungs"]),
      ),
      one["expect"],
    ),
  bracket_max_concurrent_trials: (one) =>
    difference(
      bracketConcurrency(
        Number(one["max_concurrent_trials"]),
        Number(one["divisor"]),
        numbers(one["bracket_max_trials"]),
      ),
      one["expect"],
    ),
  make_brackets: makeBrackets,
  make_rungs: (one) =>
    difference(
      rungUnits(Number(one["num_rungs"]), Number(one["max_time"]), Number(one["divisor"])),
      one["expect_units"],
    ),
  insert_metric: insertMetric,
  get_metric: getMetric,
  stop_trials: stopTrials,
  simulate,
};
