/**
 * The part of a case that the code here can express. A case that asks for more is not run: it has neither passed nor
 * failed.
 */
import type { Fields } from "./read-case.ts";

/** Thrown by a check that finds something in a case that it cannot express. */
export class NotRun extends Error {
  override readonly name = "NotRun";
}

/** The keys of a case that name its source, or repeat a part of its expectation. */
const annotations = ["id", "source", "notes", "defaults_applied"];

const space = ["hyperparameters"];
const search = ["config", ...space];

/** The fields that the check of a section reads. */
const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  "searcher.bracket_max_trials": ["max_trials", "divisor", "bracket_rungs", "expect"],
  "searcher.bracket_max_concurrent_trials": [
    "max_concurrent_trials",
    "divisor",
    "bracket_max_trials",
    "expect",
  ],
  "searcher.make_brackets": ["config", "expect"],
  "searcher.make_rungs": ["num_rungs", "max_time", "divisor", "expect_units"],
  "searcher.insert_metric": ["new_metric", "existing", "expect_index", "expect_metrics"],
  "searcher.get_metric": [
    "metrics",
    "metric",
    "time_metric",
    "smaller_is_better",
    "expect_time",
    "expect_metric",
    "expect_error",
  ],
  "searcher.stop_trials": [
    "divisor",
    "rungs",
    "trial_rungs",
    "report",
    "expect_actions",
    "expect_trial_rungs",
    "expect_rungs",
  ],
  "searcher.run": [...search, "driver", "expect", "expect_rungs"],
  "searcher.simulate": [...search, "expect_trials"],
  "searcher.grid_size": [...space, "expect_count"],
  "searcher.grid_axis": ["hyperparameter", "expect_len"],
  "searcher.grid_points": [...space, "ordered", "expect"],
  "searcher.sampling": [...space, "seed", "seeds", "expect"],
  "searcher_legacy.value_simulation": ["config", "expect_trials"],
  "searcher_legacy.multiset_simulation": ["config", "metric", "expect_ops_multiset"],
};

/** The fields of a case that the check of its section does not read; empty if it reads all. */
export function unreadFields(section: string, one: Fields): readonly string[] {
  const read = Object.hasOwn(fieldsOf, section) ? fieldsOf[section] : undefined;
  if (read === undefined) return [];
  return Object.keys(one).filter((key) => !read.includes(key) && !annotations.includes(key));
}

/** True for a field with an expectation: a case whose expectation is not read cannot pass. */
export function isExpectation(field: string): boolean {
  return field.startsWith("expect");
}
