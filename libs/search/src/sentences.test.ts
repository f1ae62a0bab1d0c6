import { expect, test } from "vitest";
import { stopSentence } from "./sentences.ts";

test.each([
  [
    "metric_missing",
    { metric: "loss", reported: ["accuracy", "val_loss"] },
    "metric_missing: a validation has no loss, the searcher's metric; it has accuracy, val_loss",
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
    "halving: its 0.123457 at 4 is number 7 of 9, of which 2 go on, down to 0.1",
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
    "pbt_exploit: its 0.9 at 20 is number 8 of 8; trial 9 goes on in its place from trial 3 (0.1) at 18",
  ],
  [
    "segment_end",
    { until: 20, segment: 1, of: 3, checkpoint_time: 21 },
    "segment_end: its segment of the schedule, 1 of 3, lasts until 20",
  ],
  ["of a client", { budget: 3, list: [1] }, "of a client: budget 3"],
  ["nothing", undefined, "nothing"],
])("a stop by %s says why", (rule, evidence, sentence) => {
  expect(stopSentence(rule, evidence)).toBe(sentence);
});
