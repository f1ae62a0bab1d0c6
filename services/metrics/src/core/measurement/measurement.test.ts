import { AlertLevel } from "@trainyard/contracts/events";
import { given } from "@trainyard/testing";
import { test } from "vitest";
import { reported, superseded } from "../../testing/events.ts";
import { measurement } from "./measurement.ts";

test("a validation is recorded", () => {
  const { data } = reported(1, 10);
  given(measurement).when({ kind: "report_validation", validation: data }).then(reported(1, 10));
});

test("a run supersedes what earlier runs reported beyond its start", () => {
  given(measurement, reported(1, 10))
    .when({ kind: "supersede", run: 2, afterStep: 5 })
    .then(superseded(2, 5));
});

test("a run supersedes earlier reports only once", () => {
  given(measurement, superseded(2, 5))
    .when({ kind: "supersede", run: 2, afterStep: 5 })
    .thenNothing();
});

test("a later run supersedes earlier reports again", () => {
  given(measurement, superseded(2, 5))
    .when({ kind: "supersede", run: 3, afterStep: 0 })
    .then(superseded(3, 0));
});

const progressed = (run: number, percent: number, atMs: number) =>
  ({ type: "ProgressReported", data: { run, percent, atMs } }) as const;
const progress = (run: number, fraction: number, atMs: number) =>
  ({ kind: "report_progress", run, fraction, atMs }) as const;

test("reported progress is recorded as a whole percent", () => {
  given(measurement)
    .when(progress(1, 0.6789, 5_000))
    .then(progressed(1, 67, 5_000));
  given(measurement)
    .when(progress(1, 1, 5_000))
    .then(progressed(1, 100, 5_000));
});

test("progress is recorded at most once in 10 s, and only another percent", () => {
  const first = progressed(1, 10, 5_000);
  given(measurement, first)
    .when(progress(1, 0.2, 14_999))
    .thenNothing();
  given(measurement, first)
    .when(progress(1, 0.109, 15_000))
    .thenNothing();
  given(measurement, first)
    .when(progress(1, 0.2, 15_000))
    .then(progressed(1, 20, 15_000));
});

test("a later run reports its progress at once, and an earlier run no more", () => {
  const second = progressed(2, 10, 5_000);
  given(measurement, progressed(1, 10, 4_000))
    .when(progress(2, 0.1, 5_000))
    .then(second);
  given(measurement, second)
    .when(progress(1, 0.5, 50_000))
    .thenNothing();
});

const raised = (run: number, key: string) =>
  ({
    type: "AlertRaised",
    data: { trial: "a.1", run, title: "loss", text: "", level: AlertLevel.WARN, reportKey: key },
  }) as const;

test("a run raises at most 100 alerts, and its next run as many again", () => {
  const full = Array.from({ length: 100 }, (_, n) => raised(1, `0-${n}`));
  const raise = (run: number) =>
    ({ kind: "raise_alert", alert: raised(run, "0-100").data }) as const;
  given(measurement, ...full.slice(1))
    .when(raise(1))
    .then(raised(1, "0-100"));
  given(measurement, ...full)
    .when(raise(1))
    .thenNothing();
  given(measurement, ...full)
    .when(raise(2))
    .then(raised(2, "0-100"));
});
