/** The places of the trials of a search that halves, by columns. */
import type { Entry } from "../ranking.ts";
import { type Column, Rows, registerLayout } from "../rows.ts";
import type { Place, PlaceState } from "./memory.ts";

const states: readonly PlaceState[] = ["coming", "due", "waiting", "over"];

const noColumns = (): Column[] => [
  new Uint32Array(0),
  new Uint32Array(0),
  new Uint8Array(0),
  new Float64Array(0),
  new Float64Array(0),
  [],
];

export class PlaceRows extends Rows<Place> {
  readonly layout = "place";
  bracket = this.columns[0] as Uint32Array;
  rung = this.columns[1] as Uint32Array;
  state = this.columns[2] as Uint8Array;
  time = this.columns[3] as Float64Array;
  value = this.columns[4] as Float64Array;
  brought = this.columns[5] as (readonly Entry[])[];

  constructor() {
    super(noColumns());
  }

  empty(): PlaceRows {
    return new PlaceRows();
  }

  named(): void {
    [this.bracket, this.rung, this.state, this.time, this.value, this.brought] = this.columns as [
      Uint32Array,
      Uint32Array,
      Uint8Array,
      Float64Array,
      Float64Array,
      (readonly Entry[])[],
    ];
  }

  get(at: number): Place {
    return {
      bracket: this.bracket[at] as number,
      rung: this.rung[at] as number,
      state: states[this.state[at] as number] as PlaceState,
      time: this.time[at] as number,
      value: this.value[at] as number,
      brought: this.brought[at] as readonly Entry[],
    };
  }

  set(at: number, row: Place): void {
    this.bracket[at] = row.bracket;
    this.rung[at] = row.rung;
    this.state[at] = states.indexOf(row.state);
    this.time[at] = row.time;
    this.value[at] = row.value;
    this.brought[at] = row.brought;
  }
}

registerLayout(() => new PlaceRows());
