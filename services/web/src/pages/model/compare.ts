/** Versions of a model side by side: pure. */
import type { Plain } from "@trainyard/contracts";
import type { ModelVersion } from "@trainyard/contracts/api";
import type { Json } from "@trainyard/kernel";
import { number } from "../../components/format.ts";

export type ComparedRow = {
  readonly group: "Lineage" | "Metrics" | "Hyperparameters" | "Data" | "Metadata";
  readonly name: string;
  /** One a version, in their order; empty where a version has none. */
  readonly values: readonly string[];
  /** Whether two of them differ. */
  readonly differs: boolean;
};

type Version = Plain<ModelVersion>;

/** Rows of the same group are together; within a group names are in alphabetical order. */
export function compareVersions(versions: readonly Version[]): readonly ComparedRow[] {
  return [
    ...rowsOf("Lineage", versions, lineageOf),
    ...rowsOf("Metrics", versions, ({ metrics }) => metrics),
    ...rowsOf("Hyperparameters", versions, ({ hyperparameters }) => flat(hyperparameters)),
    ...rowsOf("Data", versions, ({ data }) => flat(data)),
    ...rowsOf("Metadata", versions, ({ metadata }) => flat(metadata)),
  ];
}

type Values = Readonly<Record<string, Json>>;

function rowsOf(
  group: ComparedRow["group"],
  versions: readonly Version[],
  valuesOf: (version: Version) => Values,
): readonly ComparedRow[] {
  const all = versions.map((version) => valuesOf(version));
  const names = [...new Set(all.flatMap((values) => Object.keys(values)))].sort();
  return names.map((name) => {
    const values = all.map((one) => (Object.hasOwn(one, name) ? text(one[name]) : ""));
    return { group, name, values, differs: new Set(values).size > 1 };
  });
}

const lineageOf = (version: Version): Values => ({
  checkpoint: version.checkpoint,
  code: version.codeDigest.slice(0, 12),
  experiment: version.experiment,
  step: version.stepsCompleted,
  trial: version.trial,
});

/** {"optimizer": {"lr": 1}} is "optimizer.lr". A list is one value. */
export function flat(value: Json | undefined, path = ""): Values {
  if (value === undefined || value === null) return path === "" ? {} : { [path]: null };
  if (typeof value !== "object" || Array.isArray(value)) return { [path]: value };
  return Object.assign(
    {},
    ...Object.entries(value).map(([name, inner]) =>
      flat(inner, path === "" ? name : `${path}.${name}`),
    ),
  ) as Values;
}

export function text(value: Json | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "number") return number(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** "metrics.loss<1 and label=x" as the conditions that the API takes. "and" within JSON text stays. */
export function conditionsOf(where: string): string[] {
  const parts = where.match(/(?:"(?:[^"\\]|\\.)*"|[^\s"]|"(?=[^"]*$))+|\s+/g) ?? [];
  const conditions: string[] = [""];
  for (const part of parts) {
    if (part.toLowerCase() === "and") conditions.push("");
    else conditions.push((conditions.pop() ?? "") + part);
  }
  return conditions.map((condition) => condition.trim()).filter((condition) => condition !== "");
}
