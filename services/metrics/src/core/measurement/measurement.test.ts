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
