import { isPositionMetric } from "@trainyard/contracts";
import type { JSX } from "react";
import { number, time } from "../../components/format.ts";
import { flattened, type NestedValue, shownValue } from "../../components/nested.ts";
import { PathLink } from "../../components/path-link.tsx";
import { trialState, waitOf } from "../../components/state.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import type { Column, ColumnLayout } from "../../components/table/index.ts";
import { elapsedOf, ranMsOf, ranOf } from "../../components/times.ts";
import { trialName } from "../../components/trial-name.ts";
import { clock, useNow } from "../../data/clock.ts";
import { own } from "../../data/own.ts";
import type { Experiment } from "./tabs.ts";
import type { Trial } from "./use-trials.ts";

/** Returns a name in the syntax of filters and orders: special characters are quoted. */
export function fieldOf(kind: "hparams" | "metrics", name: string): string {
  return `${kind}.${/^[\w\-/.]+$/.test(name) ? name : JSON.stringify(name)}`;
}

/** The names of all hyperparameters and metrics of the trials, in the order of first occurrence. */
export function namesOf(trials: readonly Trial[]) {
  const hparams = new Set<string>();
  const metrics = new Set<string>();
  for (const trial of trials) {
    for (const name of hparamsOf(trial).keys()) hparams.add(name);
    for (const name of Object.keys(trial.latestValidation)) metrics.add(name);
  }
  return { hparams: [...hparams], metrics: [...metrics] };
}

/** A trial's hyperparameters by path. */
export function hparamsOf(trial: Trial): ReadonlyMap<string, NestedValue> {
  return new Map(flattened(trial.hyperparameters ?? {}));
}

/**
 * Returns a function like `hparamsOf` that flattens each trial only once: a row of the table asks for each of its
 * names.
 */
function flattenedOnce(): typeof hparamsOf {
  const known = new WeakMap<Trial, ReadonlyMap<string, NestedValue>>();
  return (trial) => {
    const hparams = known.get(trial) ?? hparamsOf(trial);
    known.set(trial, hparams);
    return hparams;
  };
}

/** The names of hyperparameters that differ between the trials, or that some trials lack; a single pass. */
export function differingHparams(trials: readonly Trial[]): readonly string[] {
  const first = new Map<string, string>();
  const seen = new Map<string, number>();
  const differing = new Set<string>();
  for (const trial of trials) {
    for (const [name, value] of hparamsOf(trial)) {
      const text = JSON.stringify(value);
      if (!first.has(name)) first.set(name, text);
      else if (first.get(name) !== text) differing.add(name);
      seen.set(name, (seen.get(name) ?? 0) + 1);
    }
  }
  return [...first.keys()].filter(
    (name) => differing.has(name) || seen.get(name) !== trials.length,
  );
}

/** Numbers are right-aligned; a column that has any text is not. */
const areNumbers = (
  trials: readonly Trial[],
  of: (trial: Trial) => NestedValue | undefined,
): boolean => trials.every((trial) => ["number", "undefined"].includes(typeof of(trial)));

/** The time in which the trial ran: a trial that is suspended or waits costs nothing. */
function Took({ trial }: { readonly trial: Trial }): JSX.Element {
  const nowMs = useNow();
  return <span title={`elapsed ${elapsedOf(trial, nowMs)}`}>{ranOf(trial, nowMs)}</span>;
}

function numberColumn(
  id: string,
  title: string,
  of: (trial: Trial) => number | undefined,
  sort: string,
): Column<Trial> {
  return {
    ...{ id, title, width: 120, right: true, mono: true, sort },
    cell: (trial) => number(of(trial)),
    text: (trial) => String(of(trial) ?? ""),
  };
}

export function columnsOf(
  trials: readonly Trial[],
  { metric }: Experiment,
): readonly Column<Trial>[] {
  const { hparams, metrics } = namesOf(trials);
  const valuesOf = flattenedOnce();
  return [
    {
      ...{ id: "number", title: "Trial", width: 96, sort: "number" },
      cell: ({ id }) => <PathLink to={`/trials/${id}`}>{trialName(id)}</PathLink>,
      text: ({ number: of }) => String(of),
    },
    {
      ...{ id: "state", title: "State", width: 160, sort: "state" },
      cell: (trial) => (
        <StateBadge
          state={trialState(trial)}
          restarts={trial.restarts}
          title={trial.reason || waitOf(trial)}
        />
      ),
      text: (trial) => trialState(trial).word,
    },
    numberColumn("best", `Best ${metric}`, ({ bestValue }) => bestValue, "best_value"),
    numberColumn("steps", "Steps", ({ stepsCompleted }) => stepsCompleted, "steps_completed"),
    ...hparams.map(
      (name): Column<Trial> => ({
        ...{ id: `hparams.${name}`, title: name, width: 120, mono: true },
        right: areNumbers(trials, (trial) => valuesOf(trial).get(name)),
        sort: fieldOf("hparams", name),
        cell: (trial) => shownValue(valuesOf(trial).get(name)),
        text: (trial) => String(valuesOf(trial).get(name) ?? ""),
      }),
    ),
    ...metrics.map((name) =>
      numberColumn(
        `metrics.${name}`,
        name,
        ({ latestValidation }) => own(latestValidation, name),
        fieldOf("metrics", name),
      ),
    ),
    numberColumn("restarts", "Restarts", ({ restarts }) => restarts, "restarts"),
    {
      ...{ id: "origin", title: "Origin", width: 100, sort: "origin" },
      cell: ({ origin }) => origin.replaceAll("_", " "),
      text: ({ origin }) => origin,
    },
    {
      ...{ id: "took", title: "Took", width: 90, right: true, mono: true },
      cell: (trial) => <Took trial={trial} />,
      text: (trial) => String(ranMsOf(trial, clock.nowMs())),
    },
    {
      ...{ id: "created", title: "Created", width: 160, mono: true, sort: "created_at" },
      cell: ({ createdAtMs }) => time(createdAtMs),
      text: ({ createdAtMs }) => new Date(createdAtMs).toISOString(),
    },
  ];
}

/**
 * The columns until the user chooses others: hyperparameters that differ between the trials, and metrics that are not
 * the position of the training.
 */
export function initialLayout(trials: readonly Trial[], { metric }: Experiment): ColumnLayout {
  const metrics = namesOf(trials).metrics.filter((name) => !isPositionMetric(name));
  return [
    { id: "number", pinned: true },
    { id: "state", pinned: true },
    { id: "best" },
    { id: "steps" },
    ...differingHparams(trials)
      .slice(0, 12)
      .map((name) => ({ id: `hparams.${name}` })),
    ...metrics
      .filter((name) => name !== metric)
      .slice(0, 6)
      .map((name) => ({ id: `metrics.${name}` })),
    { id: "took" },
  ];
}
