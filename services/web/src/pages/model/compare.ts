/** Compares versions of a model side by side: pure. */
import { isPositionMetric, type Plain } from "@trainyard/contracts";
import type { ModelVersion } from "@trainyard/contracts/api";
import { flattened, type NestedValue, shownValue } from "../../components/nested.ts";

export type ComparedRow = {
  readonly group: "Lineage" | "Metrics" | "Hyperparameters" | "Data" | "Metadata";
  readonly name: string;
  /** One value for each version, in order; empty for a version without one. */
  readonly values: readonly string[];
  /** At least two of the values differ. */
  readonly differs: boolean;
};

type Version = Plain<ModelVersion>;

/** Returns the compared rows by group; within a group, names are in alphabetical order. */
export function compareVersions(versions: readonly Version[]): readonly ComparedRow[] {
  return [
    ...rowsOf("Lineage", versions, lineageOf),
    ...rowsOf("Metrics", versions, ({ metrics }) => valuesOf(metrics)),
    ...rowsOf("Hyperparameters", versions, ({ hyperparameters }) => hyperparameters),
    ...rowsOf("Data", versions, ({ data }) => data),
    ...rowsOf("Metadata", versions, ({ metadata }) => metadata),
  ];
}

/** Metrics without those that are the position of the training, which say nothing about a version. */
export const valuesOf = <Value>(
  metrics: Readonly<Record<string, Value>>,
): Readonly<Record<string, Value>> =>
  Object.fromEntries(Object.entries(metrics).filter(([name]) => !isPositionMetric(name)));

type Values = ReadonlyMap<string, NestedValue>;

function rowsOf(
  group: ComparedRow["group"],
  versions: readonly Version[],
  valuesOf: (version: Version) => Readonly<Record<string, unknown>> | undefined,
): readonly ComparedRow[] {
  const all = versions.map((version): Values => new Map(flattened(valuesOf(version) ?? {})));
  const names = [...new Set(all.flatMap((values) => [...values.keys()]))].sort();
  return names.map((name) => {
    const values = all.map((one) => shownValue(one.get(name)));
    return { group, name, values, differs: new Set(values).size > 1 };
  });
}

const lineageOf = (version: Version): Readonly<Record<string, unknown>> => ({
  checkpoint: version.checkpoint,
  code: version.codeDigest.slice(0, 12),
  experiment: version.experiment,
  step: version.stepsCompleted,
  trial: version.trial,
});

/** Splits "metrics.loss<1 and label=x" into the conditions of the API. An "and" within JSON text is kept. */
export function conditionsOf(where: string): string[] {
  const parts = where.match(/(?:"(?:[^"\\]|\\.)*"|[^\s"]|"(?=[^"]*$))+|\s+/g) ?? [];
  const conditions: string[] = [""];
  for (const part of parts) {
    if (part.toLowerCase() === "and") conditions.push("");
    else conditions.push((conditions.pop() ?? "") + part);
  }
  return conditions.map((condition) => condition.trim()).filter((condition) => condition !== "");
}
