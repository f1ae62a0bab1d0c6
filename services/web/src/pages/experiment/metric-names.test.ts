import { expect, test } from "vitest";
import {
  axesOf,
  metricsOf,
  metricsText,
  readMetric,
  readMetrics,
  usualMetrics,
} from "./metric-names.ts";

const of = (group: string, name: string, kind = "scalar") => ({ group, name, kind });
const reported = [
  of("progress", "progress"),
  of("training", "batches"),
  of("training", "loss"),
  of("validation", "accuracy"),
  of("validation", "epochs"),
  of("validation", "loss"),
  of("validation", "matrix", "json"),
];
const searchers = { group: "validation", name: "loss" };

test("the list of metrics begins with the searcher's metric and has no positions", () => {
  expect(metricsOf(reported, [searchers, searchers])).toEqual([
    searchers,
    { group: "training", name: "loss" },
    { group: "validation", name: "accuracy" },
  ]);
});

test("a metric that the search decides by is listed before anything is reported", () => {
  expect(metricsOf([], [searchers])).toEqual([searchers]);
});

test("positions are x axes, before the other metrics of the same reports", () => {
  expect(axesOf(reported, searchers)).toEqual(["step", "time", "epochs", "accuracy"]);
});

test("a link to the curve of a position shows the searcher's metric", () => {
  expect(readMetric("validation per class loss")).toEqual({
    group: "validation",
    name: "per class loss",
  });
  expect([readMetric("progress progress"), readMetric("loss"), readMetric(undefined)]).toEqual([
    null,
    null,
    null,
  ]);
});

test("the curves are the searcher's metric and its counterpart of the training, if there is one", () => {
  const names = metricsOf(reported, [searchers]);
  expect(usualMetrics("loss", names)).toEqual([searchers, { group: "training", name: "loss" }]);
  expect(usualMetrics("accuracy", names)).toEqual([{ group: "validation", name: "accuracy" }]);
});

test("any metrics are kept in the URL, and others than metrics are left out", () => {
  const metrics = [searchers, { group: "a~b", name: "50 %7E of ~" }];
  expect(readMetrics(metricsText(metrics))).toEqual(metrics);
  expect(readMetrics("loss~~validation epochs~validation loss~validation loss")).toEqual([
    searchers,
  ]);
  expect(readMetrics(undefined)).toEqual([]);
  expect(readMetrics(Array.from({ length: 99 }, (_, at) => `g n${at}`).join("~"))).toHaveLength(50);
});
