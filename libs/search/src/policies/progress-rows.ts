/** What the policies keep of the trials, as rows. */
import { registerLayout, Rows } from "../persistent/rows.ts";
import type { Progress } from "./memory.ts";

/** Places of the numbers in a row: eight, which is a line of the processor's cache. What there is not is not a number. */
const [TIME, COUNT, SUM, BEST, COMPARED_AT, COMPARED, VALUE, RUNNING_SINCE] = [
  0, 1, 2, 3, 4, 5, 6, 7,
] as const;
const STRIDE = 8;

/** What only some policies have, or some trials. */
type Rest = {
  readonly donor: boolean;
  readonly patience: Progress["patience"];
  readonly streaks: Progress["streaks"];
};

const noRest: Rest = { donor: false, patience: [], streaks: [] };

export class ProgressRows extends Rows<Progress> {
  readonly rest = this.lists[0] as (Rest | null)[];

  constructor() {
    super("progress", STRIDE, 1);
  }

  empty(): ProgressRows {
    return new ProgressRows();
  }

  protected read(index: number): Progress {
    const { numbers } = this;
    const row = index * STRIDE;
    const at = numbers[row + COMPARED_AT] as number;
    const { donor, patience, streaks } = this.rest[index] ?? noRest;
    return {
      course: {
        time: numbers[row + TIME] as number,
        count: numbers[row + COUNT] as number,
        sum: numbers[row + SUM] as number,
        best: numbers[row + BEST] as number,
        compared: Number.isNaN(at) ? null : { at, average: numbers[row + COMPARED] as number },
      },
      standing: { value: orNull(numbers[row + VALUE] as number), donor },
      patience,
      streaks,
      runningSince: orNull(numbers[row + RUNNING_SINCE] as number),
    };
  }

  protected write(index: number, progress: Progress): void {
    const { course, standing, patience, streaks, runningSince } = progress;
    const { numbers } = this;
    const row = index * STRIDE;
    numbers[row + TIME] = course.time;
    numbers[row + COUNT] = course.count;
    numbers[row + SUM] = course.sum;
    numbers[row + BEST] = course.best;
    numbers[row + COMPARED_AT] = course.compared?.at ?? Number.NaN;
    numbers[row + COMPARED] = course.compared?.average ?? Number.NaN;
    numbers[row + VALUE] = standing.value ?? Number.NaN;
    numbers[row + RUNNING_SINCE] = runningSince ?? Number.NaN;
    const isPlain = !standing.donor && patience.length === 0 && streaks.length === 0;
    this.rest[index] = isPlain ? null : { donor: standing.donor, patience, streaks };
  }
}

function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}

registerLayout(() => new ProgressRows());
