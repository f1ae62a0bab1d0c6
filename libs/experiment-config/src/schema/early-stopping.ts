/** The policies under `early_stopping`, told apart by `name`, and what combines them; and what does not fit together in one. */
import { z } from "zod";
import { durationPattern, durationSeconds } from "../early-stopping.ts";
import { isMapping, itemPath, type Json, type JsonObject, keyPath, valueAt } from "../json.ts";
import { configLimits } from "../limits.ts";
import { kindSentence } from "../sentences.ts";
import { dispatched, entry, jsonSchemaOf, number, oneOf, positive } from "./values.ts";

const time = number.min(0);
const named = <Name extends string>(name: Name) => ({ name: z.literal(name) });
const compared = { min_trials: positive, grace: time };

const duration = 'a time: a number of seconds, or text such as "90s", "30m", "2h", "1d"';

const policies = {
  no_improvement: entry(named("no_improvement"), {
    patience: positive,
    patience_time: number.gt(0),
    min_delta: number.min(0),
    min_delta_relative: number.min(0),
    grace: time,
  }),
  threshold: entry(named("threshold"), { lower: number, upper: number, grace: time }),
  median: entry(named("median"), compared),
  percentile: entry({ ...named("percentile"), percentile: number.gt(0).lt(100) }, compared),
  pbt: entry(named("pbt"), { quantile: number.gt(0).max(0.5), patience: positive, grace: time }),
  not_finite: entry(named("not_finite"), {}),
  budget: entry(named("budget"), {
    max_wall_time: oneOf(
      [number.gt(0), z.string().regex(durationPattern, { error: `must be ${duration}` })],
      duration,
    ),
    max_slot_hours: number.gt(0),
    max_trials: z.int().min(1).max(configLimits.trialsPerSearchMax),
  }),
} as const;
const policyNames = Object.keys(policies);

const byName = z.discriminatedUnion(
  "name",
  [
    policies.no_improvement,
    policies.threshold,
    policies.median,
    policies.percentile,
    policies.pbt,
    policies.not_finite,
    policies.budget,
  ],
  { error: kindSentence("name", policyNames) },
);

const combining = ["any", "all"] as const;
const combinations = Object.fromEntries(
  combining.map((key) => [
    key,
    z.strictObject({
      [key]: z
        .array(z.lazy(() => earlyStoppingPolicy))
        .min(1)
        .max(configLimits.policiesMax),
    }),
  ]),
);

function combinationOf(value: unknown): z.ZodType | undefined {
  const key = combining.find((one) => isMapping(value) && valueAt(value, one) !== undefined);
  return key === undefined ? undefined : combinations[key];
}

/** One policy, or several combined. */
export const earlyStoppingPolicy: z.ZodType = dispatched(
  (value) => combinationOf(value) ?? byName,
  () => ({
    anyOf: [
      ...Object.values(policies).map(jsonSchemaOf),
      ...combining.map((key) => ({
        type: "object",
        properties: { [key]: { type: "array", items: { $ref: "#/$defs/early_stopping_policy" } } },
        required: [key],
        additionalProperties: false,
      })),
    ],
  }),
);

export const earlyStopping = z.array(earlyStoppingPolicy).max(configLimits.policiesMax);

type Note = (path: string, detail: string) => void;

/** What no schema of a single key says. */
export function checkEarlyStopping(list: Json | undefined, note: Note): void {
  if (!Array.isArray(list)) return;
  for (const [index, policy] of list.entries()) {
    checkPolicy(policy, itemPath("early_stopping", index), note);
  }
  const budgets = list.flatMap((policy, index) => (nameOf(policy) === "budget" ? [index] : []));
  for (const index of budgets.slice(1)) {
    note(
      itemPath("early_stopping", index),
      `is a second budget: give all limits in early_stopping[${budgets[0]}]`,
    );
  }
}

function nameOf(policy: Json): Json | undefined {
  return isMapping(policy) ? valueAt(policy, "name") : undefined;
}

function checkPolicy(policy: Json, path: string, note: Note): void {
  if (!isMapping(policy)) return;
  for (const key of combining) {
    const inner = valueAt(policy, key);
    if (!Array.isArray(inner)) continue;
    for (const [index, member] of inner.entries()) {
      const at = itemPath(keyPath(path, key), index);
      if (nameOf(member) === "budget") {
        note(at, "is a budget, which is of the whole search: it stands in early_stopping itself");
      } else {
        checkPolicy(member, at, note);
      }
    }
  }
  const name = nameOf(policy);
  if (typeof name === "string" && Object.hasOwn(checks, name)) checks[name]?.(policy, path, note);
}

const checks: Readonly<Record<string, (policy: JsonObject, path: string, note: Note) => void>> = {
  no_improvement: (policy, path, note) => {
    const given = ["patience", "patience_time"].filter((key) => valueAt(policy, key) !== undefined);
    if (given.length === 0) {
      const what = "how many reports may pass without an improvement (or patience_time: how long)";
      note(keyPath(path, "patience"), `is missing: it says ${what}`);
    }
    if (given.length === 2) {
      note(keyPath(path, "patience_time"), "cannot stand beside patience: give one of the two");
    }
    if (valueAt(policy, "min_delta") !== undefined && valueAt(policy, "min_delta_relative")) {
      note(
        keyPath(path, "min_delta_relative"),
        "cannot stand beside min_delta: give one of the two",
      );
    }
  },
  threshold: (policy, path, note) => {
    const [lower, upper] = [valueAt(policy, "lower"), valueAt(policy, "upper")];
    if (lower === undefined && upper === undefined) {
      note(path, "needs lower, upper or both: the values between which a trial goes on");
    }
    if (typeof lower === "number" && typeof upper === "number" && lower > upper) {
      const detail = `must not be greater than upper: ${lower} is greater than ${upper}`;
      note(keyPath(path, "lower"), detail);
    }
  },
  budget: (policy, path, note) => {
    const limits = ["max_wall_time", "max_slot_hours", "max_trials"];
    if (limits.every((key) => valueAt(policy, key) === undefined)) {
      note(path, `limits nothing: it needs ${limits.join(", ")} or several of them`);
    }
    if (durationSeconds(valueAt(policy, "max_wall_time")) === 0) {
      note(keyPath(path, "max_wall_time"), "must be greater than 0");
    }
  },
};
