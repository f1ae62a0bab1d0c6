/** Stops the whole search when its time, slot-hours or trials are used up. */
import { durationPattern, durationSeconds, durationShape } from "../duration.ts";
import { configLimits } from "../limits.ts";
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
  keys: ({ number, oneOf, z }) => ({
    optional: {
      max_wall_time: oneOf(
        [number.gt(0), z.string().regex(durationPattern, { error: `must be ${durationShape}` })],
        durationShape,
      ).describe("The search ends after this time, in seconds or such as 8h."),
      max_slot_hours: number
        .gt(0)
        .describe("The search ends when its runs have used so many slot-hours."),
      max_trials: z
        .int()
        .min(1)
        .max(configLimits.trialsPerSearchMax)
        .describe("The search has no more trials than this."),
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
