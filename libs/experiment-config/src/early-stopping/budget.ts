/** Ends the whole search when it has used up its time, slot-hours or trials. */
import { type Json, keyPath, numberAt, valueAt } from "../json.ts";
import type { PolicyModule } from "./module.ts";

type Budget = {
  /** Seconds since the search started. */
  readonly max_wall_time: number | null;
  readonly max_slot_hours: number | null;
  readonly max_trials: number | null;
};

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const durationPattern = /^(\d+(?:\.\d+)?)\s*([smhd])$/;
const duration = 'a time: a number of seconds, or text such as "90s", "30m", "2h", "1d"';
const limits = ["max_wall_time", "max_slot_hours", "max_trials"];

/** A number of seconds, or text such as "90s", "30m", "2h", "1.5d"; null for neither. */
function durationSeconds(value: Json | undefined): number | null {
  if (typeof value === "number") return value;
  const [, number = "", unit = ""] =
    typeof value === "string" ? (durationPattern.exec(value) ?? []) : [];
  const factor = secondsOf[unit];
  return factor === undefined ? null : Number(number) * factor;
}

export const budget: PolicyModule<Budget> = {
  keys: ({ number, oneOf, trials, z }) => ({
    optional: {
      max_wall_time: oneOf(
        [number.gt(0), z.string().regex(durationPattern, { error: `must be ${duration}` })],
        duration,
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
