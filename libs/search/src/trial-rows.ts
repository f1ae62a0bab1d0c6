/** What a search keeps of its trials, by columns. */
import type { TrialOutcome } from "@trainyard/contracts/events";
import { type Column, Rows, registerLayout } from "./rows.ts";
import { noTimes, type Run } from "./times.ts";
import type { TrialState, TrialWanted } from "./trial-state.ts";
import type { Vector } from "./vector.ts";

const wants: readonly TrialWanted[] = ["run", "suspended", "stopped", "failed"];

const noColumns = (): Column[] => [
  new Uint8Array(0),
  new Uint8Array(0),
  new Float64Array(0),
  new Float64Array(0),
  new Float64Array(0),
  new Float64Array(0),
  new Uint32Array(0),
  new Uint32Array(0),
  new Float64Array(0),
  [],
  [],
  [],
];

export class TrialRows extends Rows<TrialState> {
  readonly layout = "trial";
  wanted = this.columns[0] as Uint8Array;
  outcome = this.columns[1] as Uint8Array;
  /** NaN for none. */
  best = this.columns[2] as Float64Array;
  bestAt = this.columns[3] as Float64Array;
  first = this.columns[4] as Float64Array;
  step = this.columns[5] as Float64Array;
  count = this.columns[6] as Uint32Array;
  run = this.columns[7] as Uint32Array;
  runTime = this.columns[8] as Float64Array;
  /** Null for none, as of most trials. */
  earlier = this.columns[9] as (Vector<Run> | null)[];
  lateTimes = this.columns[10] as (readonly number[] | null)[];
  measurement = this.columns[11] as string[];

  constructor() {
    super(noColumns());
  }

  empty(): TrialRows {
    return new TrialRows();
  }

  named(): void {
    [
      this.wanted,
      this.outcome,
      this.best,
      this.bestAt,
      this.first,
      this.step,
      this.count,
      this.run,
      this.runTime,
      this.earlier,
      this.lateTimes,
      this.measurement,
    ] = this.columns as [
      Uint8Array,
      Uint8Array,
      Float64Array,
      Float64Array,
      Float64Array,
      Float64Array,
      Uint32Array,
      Uint32Array,
      Float64Array,
      (Vector<Run> | null)[],
      (readonly number[] | null)[],
      string[],
    ];
  }

  get(at: number): TrialState {
    const best = this.best[at] as number;
    return {
      wanted: wants[this.wanted[at] as number] as TrialWanted,
      outcome: this.outcome[at] as TrialOutcome,
      best: Number.isNaN(best) ? null : best,
      bestAt: this.bestAt[at] as number,
      times: {
        first: this.first[at] as number,
        step: this.step[at] as number,
        count: this.count[at] as number,
        earlier: this.earlier[at] ?? noTimes.earlier,
      },
      lateTimes: this.lateTimes[at] ?? noLateTimes,
      run: this.run[at] as number,
      runTime: this.runTime[at] as number,
      measurement: this.measurement[at] as string,
    };
  }

  set(at: number, row: TrialState): void {
    const { times, lateTimes } = row;
    this.wanted[at] = wants.indexOf(row.wanted);
    this.outcome[at] = row.outcome;
    this.best[at] = row.best ?? Number.NaN;
    this.bestAt[at] = row.bestAt;
    this.first[at] = times.first;
    this.step[at] = times.step;
    this.count[at] = times.count;
    this.run[at] = row.run;
    this.runTime[at] = row.runTime;
    this.earlier[at] = times.earlier.size === 0 ? null : times.earlier;
    this.lateTimes[at] = lateTimes.length === 0 ? null : lateTimes;
    this.measurement[at] = row.measurement;
  }
}

export const noLateTimes: readonly number[] = [];

registerLayout(() => new TrialRows());
