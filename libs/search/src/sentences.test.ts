import { expect, test } from "vitest";
import { stopSentence } from "./sentences.ts";

test.each([
  [
    "metric_missing",
    { metric: "loss", reported: ["accuracy", "val_loss"] },
    "metric_missing: a validation has no loss, the searcher's metric; it has accuracy, val_loss",
  ],
  [
    "metric_missing",
    { metric: "loss", reported: ["accuracy"], non_numeric: true },
    "metric_missing: a validation reports loss, the searcher's metric, as something that is not a number: report it as a number",
  ],
  [
    "time_metric_missing",
    { time_metric: "epochs", reported: [] },
    "time_metric_missing: a validation has no epochs, the searcher's time_metric; it has nothing else",
  ],
  [
    "time_metric_decreased",
    { time_metric: "epochs", before: 5, time: 4, run: 1 },
    "time_metric_decreased: epochs went back from 5 to 4 within run 1",
  ],
  [
    "halving",
    { value: 0.123456789, units: 4, rank: 7, of: 9, kept: 2, cutoff: 0.1, neighbours: [] },
    "it ranks 7 of 9 with 0.123457 at time 4; the best 2 continue (cutoff 0.1)",
  ],
  [
    "pbt_exploit",
    {
      value: 0.9,
      time: 20,
      rank: 8,
      of: 8,
      donor: 3,
      donor_value: 0.1,
      copy: 9,
      checkpoint_time: 18,
    },
    "it ranks 8 of 8 with 0.9 at time 20; trial 9 replaces it, from the checkpoint of trial 3 (0.1) at time 18",
  ],
  [
    "segment_end",
    { until: 20, segment: 1, of: 3, checkpoint_time: 21 },
    "its segment of the schedule, 1 of 3, lasts until 20",
  ],
  [
    "no_improvement",
    { value: 1, time: 9, best: 0.5, best_at: 4, waited: 3, patience: 3, min_delta: 0 },
    "no_improvement: no improvement on 0.5, reached at 4, for 3 reports (patience 3)",
  ],
  [
    "no_improvement",
    { best: 0.5, best_at: 4, waited_time: 3.5, patience_time: 3 },
    "no_improvement: no improvement on 0.5, reached at 4, for 3.5 units of time (patience_time 3)",
  ],
  [
    "no_improvement",
    { value: "NaN", time: 9, best: null, best_at: 1, waited: 3, patience: 3, min_delta: 0 },
    "no_improvement: no finite value for 3 reports (patience 3)",
  ],
  [
    "threshold",
    { value: "NaN", time: 3, lower: null, upper: 2 },
    "threshold: its NaN at 3 is not between any and 2",
  ],
  [
    "median",
    { value: 0.9, time: 3, cutoff: 0.5, percentile: 50, rank: 4, of: 5, competitors: [] },
    "median: its best value until 3, 0.9, is worse than 0.5, the median of the others' averages (number 4 of 5)",
  ],
  [
    "pbt",
    { value: 0.9, time: 3, rank: 4, of: 4, lower: 1, times: 2, patience: 2 },
    "pbt: it ranks 4 of 4 with 0.9 at time 3, among the last 1 for 2 reports in a row",
  ],
  [
    "all",
    {
      policies: [
        { rule: "not_finite", evidence: { value: "NaN", time: 3 } },
        { rule: "max_time", evidence: { max_time: 3, units: 4 } },
      ],
    },
    "all: not_finite: its value at 3 is NaN; and it has trained to time 4, its maximum",
  ],
  [
    "budget",
    { limit: "max_wall_time", max_wall_time: 60, spent: 61 },
    "budget: max_wall_time is 60, and 61 is spent",
  ],
  [
    "pbt_exploit",
    {
      value: null,
      time: 20,
      rank: 8,
      of: 8,
      donor: 3,
      donor_value: 0.1,
      copy: 9,
      checkpoint_time: 18,
    },
    "it ranks 8 of 8 with a value that is not finite at time 20; trial 9 replaces it, from the checkpoint of trial 3 (0.1) at time 18",
  ],
  [
    "pbt_good_enough",
    { value: 0.2, time: 20, rank: 2, of: 8, exploit: "truncation", competitors: [] },
    "it ranks 2 of 8 with 0.2 at time 20, good enough to continue",
  ],
  [
    "pbt_good_enough",
    { value: 0.9, time: 20, rank: 6, of: 6, places: 8, exploit: "truncation", competitors: [] },
    "it ranks 6 of 6 with 0.9 at time 20 (6 of 8 members have reported), good enough to continue",
  ],
  [
    "pbt_last_trial",
    { value: 0.9, time: 20, rank: 8, of: 8, donor: 3, competitors: [] },
    "it ranks 8 of 8 with 0.9 at time 20, and the search has no trial left to replace it",
  ],
  [
    "pbt_turn",
    { time: 20, waiting: 3 },
    "a place is free; it waited at time 20, and of 3 waiting members those with the least training go first",
  ],
  ["segment_failed", { segment: 2, of: 3 }, "segment 2 of 3 of the schedule failed"],
  [
    "best_so_far",
    { value: 0.1, units: 3, rank: 1, of: 2, kept: 0, cutoff: null, neighbours: [] },
    "its 0.1 at time 3 is the best value of all trials so far",
  ],
  [
    "probe",
    { value: 0.5, units: 1, rank: 3, of: 4, kept: 1, cutoff: 0.1, neighbours: [] },
    "it ranks 3 of 4 with 0.5 at time 1; only the best continues (cutoff 0.1); it continues to show whether early values predict later ones",
  ],
  ["no_place", { max_concurrent_trials: 4 }, "no place is free: at most 4 trials train at a time"],
  ["place_free", { max_concurrent_trials: 4 }, "a place is free: at most 4 trials train at a time"],
  ["of a client", { budget: 3, list: [1] }, "of a client: budget 3"],
  ["nothing", undefined, "nothing"],
])("the sentence about a stop by %s gives the reason", (rule, evidence, sentence) => {
  expect(stopSentence(rule, evidence)).toBe(sentence);
});
