/** The places of the trials of a search that halves, as rows. */
import type { Entry } from "../persistent/ranking.ts";
import { registerLayout, Rows } from "../persistent/rows.ts";
import type { Place, PlaceState } from "./memory.ts";

const states: readonly PlaceState[] = ["coming", "due", "waiting", "over", "probing"];

/** Places of the numbers in a row. */
const [BRACKET, RUNG_AND_STATE, TIME, VALUE] = [0, 1, 2, 3] as const;
const STRIDE = 4;

export class PlaceRows extends Rows<Place> {
  readonly brought = this.lists[0] as (readonly Entry[])[];

  constructor() {
    super("place", STRIDE, 1);
  }

  empty(): PlaceRows {
    return new PlaceRows();
  }

  protected read(index: number): Place {
    const { numbers } = this;
    const at = index * STRIDE;
    const rungAndState = numbers[at + RUNG_AND_STATE] as number;
    return {
      bracket: (numbers[at + BRACKET] as number) | 0,
      rung: rungAndState >> 3,
      state: states[rungAndState & 7] as PlaceState,
      time: numbers[at + TIME] as number,
      value: numbers[at + VALUE] as number,
      brought: this.brought[index] as readonly Entry[],
    };
  }

  protected write(index: number, { bracket, rung, state, time, value, brought }: Place): void {
    const { numbers } = this;
    const at = index * STRIDE;
    numbers[at + BRACKET] = bracket;
    numbers[at + RUNG_AND_STATE] = rung * 8 + states.indexOf(state);
    numbers[at + TIME] = time;
    numbers[at + VALUE] = value;
    this.brought[index] = brought;
  }
}

registerLayout(() => new PlaceRows());
