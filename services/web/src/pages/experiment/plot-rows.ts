/** The trials as rows for the plots above their table: hyperparameters by path, and the best value of the metric. */
import type { Row } from "../../canvas/parallel/layout.ts";
import { hparamsOf } from "./trial-columns.tsx";
import type { Trial } from "./use-trials.ts";

export type PlotProps = {
  readonly rows: readonly Row[];
  /** The hyperparameters that differ between the trials. */
  readonly hparams: readonly string[];
  readonly metric: string;
  readonly smallerIsBetter: boolean;
  /** Selects trials by their ids. */
  readonly onSelect: (ids: ReadonlySet<string>) => void;
};

export function rowsOf(trials: readonly Trial[], metric: string): readonly Row[] {
  return trials.map((trial) => ({
    id: trial.id,
    values: { ...Object.fromEntries(hparamsOf(trial)), [metric]: trial.bestValue },
  }));
}
