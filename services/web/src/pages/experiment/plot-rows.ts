/** The trials as rows for the plots above their table: hyperparameters by path, and the best value of the metric. */
import type { Row } from "../../canvas/parallel/layout.ts";
import { hparamsOf } from "./trial-columns.tsx";
import type { Trial } from "./use-trials.ts";

export type PlotProps = {
  readonly rows: readonly Row[];
  /** The hyperparameters that differ between the trials. */
  readonly hparams: readonly string[];
  /** The hyperparameters whose values are a list in the configuration. */
  readonly categorical: ReadonlySet<string>;
  readonly metric: string;
  readonly smallerIsBetter: boolean;
  /** Selects trials by their ids. */
  readonly onSelect: (ids: ReadonlySet<string>) => void;
};

/** The paths of the categorical hyperparameters in a configuration. */
export function categoricalOf(config: unknown): ReadonlySet<string> {
  const { hyperparameters } = (config ?? {}) as { readonly hyperparameters?: unknown };
  return new Set(categoricalIn(hyperparameters, ""));
}

function categoricalIn(space: unknown, prefix: string): readonly string[] {
  if (space === null || typeof space !== "object" || Array.isArray(space)) return [];
  return Object.entries(space).flatMap(([name, inner]: readonly [string, unknown]) => {
    const { type, vals } = (inner ?? {}) as { readonly type?: unknown; readonly vals?: unknown };
    const isCategorical = type === "categorical" && Array.isArray(vals);
    return isCategorical ? [`${prefix}${name}`] : categoricalIn(inner, `${prefix}${name}.`);
  });
}

export function rowsOf(trials: readonly Trial[], metric: string): readonly Row[] {
  return trials.map((trial) => ({
    id: trial.id,
    values: { ...Object.fromEntries(hparamsOf(trial)), [metric]: trial.bestValue },
  }));
}
