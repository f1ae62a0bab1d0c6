/** Stops the whole search when its time, slot-hours or trials are used up. */
import { durationPattern, durationSeconds, durationShape } from "../duration.ts";
import { keyPath, numberAt, valueAt } from "../json.ts";
import type { PolicyModule } from "./module.ts";

type Budget = {
  /** Seconds since the search started. */
  readonly max_wall_time: number | null;
  readonly max_slot_hours: number | null;
  readonly max_trials: number | null;
};

const limits = ["max_wall_time", "max_slot_hours", "max_trials"];

export const budget: PolicyModule<Budget> = {
  keys: ({ number, oneOf, trials, z }) => ({
    optional: {
      max_wall_time: oneOf(
        [number.gt(0), z.string().regex(durationPattern, { error: `must be ${durationShape}` })],
        durationShape,
      ),
      max_slot_hours: number.gt(0),
      max_trials: trials,
    },
  }),
  check(policy, path, note) {
    if (limits.every((key) => valueAt(policy, key) === undefined)) {
      note(path, `has no limit: give ${limits.join(", ")} or several of them`);
    }
    if (durationSeconds(valueAt(policy, "max_wall_time")) === 0) {
      note(keyPath(path, "max_wall_time"), "must be greater than 0");
    }
  },
  read: (policy) => ({
    max_wall_time: durationSeconds(valueAt(policy, "max_wall_time")),
    max_slot_hours: numberAt(policy, "max_slot_hours", null),
    max_trials: numberAt(policy, "max_trials", null),
  }),
};
