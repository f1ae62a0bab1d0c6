/**
 * The table of a comparison: its rows are values of the trials, by default those that differ. A value is a number, a
 * text, or absent.
 */
import { isPositionMetric } from "@trainyard/contracts/position-metrics";
import { number } from "../../components/format.ts";
import { flattened, shownValue } from "../../components/nested.ts";
import type { ComparedTrial } from "./comparison.ts";

export type Value = number | string | undefined;

export type ValueRow = {
  /** The row's name in the URL: its section and its title. */
  readonly key: string;
  readonly section: string;
  readonly title: string;
  /** One value for each trial. */
  readonly values: readonly Value[];
  readonly differs: boolean;
};

type Of = (trial: ComparedTrial) => readonly (readonly [title: string, value: Value])[];

const sections: readonly (readonly [section: string, of: Of])[] = [
  ["Trial", trialValues],
  ["Latest validation", ({ document }) => metricsIn(document.latestValidation)],
  ["Best validation", ({ document }) => metricsIn(document.bestValidation)],
  ["Hyperparameters", ({ document }) => pairsIn(document.hyperparameters)],
  ["Configuration", ({ experiment }) => configuration(experiment.config)],
];

export function rowsOf(trials: readonly ComparedTrial[]): readonly ValueRow[] {
  return sections.flatMap(([section, of]) => {
    const found = trials.map((trial) => new Map(of(trial)));
    const titles = new Set(found.flatMap((values) => [...values.keys()]));
    return [...titles].map((title) => {
      const values = found.map((one) => one.get(title));
      const differs = values.some((value) => !Object.is(value, values[0]));
      return { key: `${section} ${title}`, section, title, values, differs };
    });
  });
}

function trialValues({ document, experiment, state }: ComparedTrial) {
  return [
    ["experiment", experiment.name],
    ["state", state.word],
    ["steps", document.stepsCompleted],
    ["labels", experiment.labels.join(", ") || undefined],
    ["owner", experiment.owner],
    ["project", `${experiment.workspace}/${experiment.project}`],
  ] as const;
}

const metricsIn = (metrics: Readonly<Record<string, number>>) =>
  Object.entries(metrics).filter(([name]) => !isPositionMetric(name));

const pairsIn = (values: Readonly<Record<string, unknown>> | undefined) =>
  flattened(values ?? {}).map(
    ([title, value]) => [title, typeof value === "number" ? value : shownValue(value)] as const,
  );

/** The hyperparameters of the configuration are ranges, and those of the trial are in a section of their own. */
function configuration(config: Readonly<Record<string, unknown>> | undefined) {
  const { hyperparameters: _ranges, name: _name, ...rest } = config ?? {};
  return pairsIn(rest);
}

export type Order = { readonly key: string; readonly desc: boolean };

export function readOrder(text: string | undefined): Order | null {
  if (text === undefined) return null;
  return { key: text.replace(/ desc$/, ""), desc: text.endsWith(" desc") };
}

/** The next order after a click on a row: ascending, descending, then that of the comparison. */
export function nextOrder(order: Order | null, key: string): string | undefined {
  if (order?.key !== key) return key;
  return order.desc ? undefined : `${key} desc`;
}

/** Returns the places of the trials in the order of a row's values. Trials without a value come last. */
export function placesIn(
  rows: readonly ValueRow[],
  order: Order | null,
  count: number,
): readonly number[] {
  const places = Array.from({ length: count }, (_, at) => at);
  const row = rows.find(({ key }) => key === order?.key);
  if (row === undefined || order === null) return places;
  const sign = order.desc ? -1 : 1;
  return places.toSorted((a, b) => {
    const [left, right] = [row.values[a], row.values[b]];
    const absent = Number(isAbsent(left)) - Number(isAbsent(right));
    return absent === 0 ? sign * compared(left, right) : absent;
  });
}

const isAbsent = (value: Value): boolean => value === undefined || Number.isNaN(value);

function compared(left: Value, right: Value): number {
  if (typeof left === "number" && typeof right === "number") return left - right || 0;
  return String(left ?? "").localeCompare(String(right ?? ""));
}

/** Whole numbers, such as seeds, have all their digits. */
export function valueText(value: Value): string {
  if (typeof value !== "number") return value ?? "";
  return Number.isSafeInteger(value) ? String(value) : number(value);
}
