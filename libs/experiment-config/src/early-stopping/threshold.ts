/** Stops a trial whose value leaves an interval, or is not finite. */
import { keyPath, numberAt, valueAt } from "../json.ts";
import { type Graceful, graceKey, type PolicyModule } from "./module.ts";

type Threshold = Graceful & { readonly lower: number | null; readonly upper: number | null };

export const threshold: PolicyModule<Threshold> = {
  keys: (values) => ({
    optional: {
      lower: values.number.describe("A value below this stops the trial."),
      upper: values.number.describe("A value above this stops the trial."),
      ...graceKey(values),
    },
  }),
  check(policy, path, note) {
    const [lower, upper] = [valueAt(policy, "lower"), valueAt(policy, "upper")];
    if (lower === undefined && upper === undefined) {
      note(path, "needs lower, upper or both: the values between which a trial continues");
    }
    if (typeof lower === "number" && typeof upper === "number" && lower > upper) {
      const detail = `must not be greater than upper: ${lower} is greater than ${upper}`;
      note(keyPath(path, "lower"), detail);
    }
  },
  read: (policy) => ({
    lower: numberAt(policy, "lower", null),
    upper: numberAt(policy, "upper", null),
    grace: numberAt(policy, "grace", 0),
  }),
};
