/** What a search keeps of its trials, as rows. */
import type { TrialOutcome } from "@trainyard/contracts/events";
import { registerLayout, Rows } from "./persistent/rows.ts";
import { noTimes, type Run } from "./persistent/times.ts";
import type { TrialState, TrialWanted } from "./trial-state.ts";
import type { Vector } from "./persistent/vector.ts";

const wants: readonly TrialWanted[] = ["run", "suspended", "stopped", "failed"];

/** Places of the numbers in a row: eight, which is a line of the processor's cache. `STATE` is the wanted and four times the outcome. */
const [STATE, BEST, BEST_AT, FIRST, STEP, COUNT, RUN, RUN_TIME] = [0, 1, 2, 3, 4, 5, 6, 7] as const;
const STRIDE = 8;

export const noLateTimes: readonly number[] = [];

/** The times of a trial that did not report at a steady pace. */
type Unsteady = { readonly earlier: Vector<Run>; readonly lateTimes: readonly number[] };

export class TrialRows extends Rows<TrialState> {
  readonly measurements = this.lists[0] as string[];
  /** Null for most trials. */
  readonly unsteady = this.lists[1] as (Unsteady | null)[];

  constructor() {
    super("trial", STRIDE, 2);
  }

  empty(): TrialRows {
    return new TrialRows();
  }

  protected read(index: number): TrialState {
    const { numbers } = this;
    const at = index * STRIDE;
    const state = numbers[at + STATE] as number;
    const best = numbers[at + BEST] as number;
    const unsteady = this.unsteady[index];
    return {
      wanted: wants[state & 3] as TrialWanted,
      outcome: (state >> 2) as TrialOutcome,
      best: Number.isNaN(best) ? null : best,
      bestAt: numbers[at + BEST_AT] as number,
      times: {
        first: numbers[at + FIRST] as number,
        step: numbers[at + STEP] as number,
        count: numbers[at + COUNT] as number,
        earlier: unsteady?.earlier ?? noTimes.earlier,
      },
      lateTimes: unsteady?.lateTimes ?? noLateTimes,
      run: numbers[at + RUN] as number,
      runTime: numbers[at + RUN_TIME] as number,
      measurement: this.measurements[index] as string,
    };
  }

  protected write(index: number, row: TrialState): void {
    const { numbers } = this;
    const { times, lateTimes } = row;
    const { earlier } = times;
    const at = index * STRIDE;
    numbers[at + STATE] = wants.indexOf(row.wanted) + row.outcome * 4;
    numbers[at + BEST] = row.best ?? Number.NaN;
    numbers[at + BEST_AT] = row.bestAt;
    numbers[at + FIRST] = times.first;
    numbers[at + STEP] = times.step;
    numbers[at + COUNT] = times.count;
    numbers[at + RUN] = row.run;
    numbers[at + RUN_TIME] = row.runTime;
    this.measurements[index] = row.measurement;
    const steady = earlier.size === 0 && lateTimes.length === 0;
    this.unsteady[index] = steady ? null : { earlier, lateTimes };
  }
}

registerLayout(() => new TrialRows());
