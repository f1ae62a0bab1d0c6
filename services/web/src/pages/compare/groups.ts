/** Groups of compared trials: by experiment, labels, searcher or a hyperparameter. A trial belongs to one group. */
import { flattened, type NestedValue, shownValue } from "../../components/nested.ts";
import type { ComparedTrial } from "./comparison.ts";
import { type GroupBy, groupText } from "./url.ts";

export type Group = {
  readonly name: string;
  /** The place among the groups, from 1: it determines hue and dash. */
  readonly look: number;
  readonly trials: readonly string[];
};

/** The maximum number of groups: each is a line that is joined from the points of all its trials. */
export const groupsMax = 32;

/** Values of a hyperparameter are in their order, other groups in the order of their first trials. */
export function groupsOf(trials: readonly ComparedTrial[], by: GroupBy): readonly Group[] {
  const groups = new Map<string, { value: NestedValue | undefined; trials: string[] }>();
  for (const trial of trials) {
    const [name, value] = keyOf(trial, by);
    const group = groups.get(name) ?? { value, trials: [] };
    group.trials.push(trial.id);
    groups.set(name, group);
  }
  const all = [...groups].map(([name, group]) => ({ name, ...group }));
  const isNumeric = all.every(({ value }) => value === undefined || typeof value === "number");
  const sorted =
    by.kind === "hyperparameter" && isNumeric
      ? all.toSorted((a, b) => orderOf(a.value) - orderOf(b.value))
      : all;
  return sorted.map(({ name, trials: members }, at) => ({ name, look: at + 1, trials: members }));
}

/** Trials without the hyperparameter come last. */
const orderOf = (value: NestedValue | undefined): number =>
  typeof value === "number" ? value : Number.MAX_VALUE;

function keyOf(
  { document, experiment }: ComparedTrial,
  by: GroupBy,
): readonly [name: string, value: NestedValue | undefined] {
  if (by.kind !== "hyperparameter") return [nameIn(experiment, by.kind), undefined];
  const pairs = new Map(flattened(document.hyperparameters ?? {}));
  const value = pairs.get(by.name);
  return [value === undefined ? `no ${by.name}` : `${by.name} ${shownValue(value)}`, value];
}

function nameIn(
  { id, name, labels, searcher }: ComparedTrial["experiment"],
  kind: "experiment" | "label" | "searcher",
): string {
  if (kind === "experiment") return `${id} ${name}`;
  if (kind === "searcher") return searcher;
  return labels.length === 0 ? "no label" : labels.toSorted().join(", ");
}

export type GroupChoice = { readonly text: string; readonly title: string };

/** The groups that tell trials apart, and the one that is chosen. */
export function groupChoices(
  trials: readonly ComparedTrial[],
  chosen: GroupBy | null,
): readonly GroupChoice[] {
  const names = new Set(
    trials.flatMap(({ document }) =>
      flattened(document.hyperparameters ?? {}).map(([name]) => name),
    ),
  );
  const all: readonly GroupBy[] = [
    { kind: "experiment" },
    { kind: "label" },
    { kind: "searcher" },
    ...[...names].map((name) => ({ kind: "hyperparameter", name }) as const),
  ];
  const useful = all.filter((by) => groupsOf(trials, by).length > 1);
  const isThere = useful.some((by) => chosen !== null && groupText(by) === groupText(chosen));
  const shown = chosen === null || isThere ? useful : [...useful, chosen];
  return shown.map((by) => ({ text: groupText(by), title: titleOf(by) }));
}

export const titleOf = (by: GroupBy): string => (by.kind === "hyperparameter" ? by.name : by.kind);
