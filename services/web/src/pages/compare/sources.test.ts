import { parseComparisonSource, trialsOfRanges } from "@trainyard/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";
import { comparedMax, compareLink, sourcesOf, sourcesText } from "../../components/compare-link.ts";
import {
  isSource,
  namedTrials,
  readSources,
  withoutGone,
  withoutTrial,
  withSources,
} from "./sources.ts";

const someTrial = fc
  .tuple(fc.integer({ min: 1, max: 99_999_999 }), fc.integer({ min: 1, max: 99_999 }))
  .map(([experiment, number]) => `${experiment}.${number}`);
const closeTrial = fc
  .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 12 }))
  .map(([experiment, number]) => `${experiment}.${number}`);
const trials = (one: fc.Arbitrary<string>) =>
  fc.uniqueArray(one, { minLength: 1, maxLength: comparedMax });

test("sources are the trials, the best or all of an experiment", () => {
  for (const source of ["12.3", "12.1-3.7", "12.best", "12.best5", "12.best100", "12.all"]) {
    expect([source, isSource(source)]).toEqual([source, true]);
  }
  for (const source of [
    "",
    "12",
    "12.",
    "0.1",
    "12.0",
    "12.best0",
    "12.best101",
    "12.1-",
    "a.all",
  ]) {
    expect([source, isSource(source)]).toEqual([source, false]);
  }
});

test("trials are written as few sources, in their order, and read again", () => {
  expect(sourcesOf(["12.1", "12.2", "12.3", "12.7", "12.6", "13.2", "12.4"])).toEqual([
    "12.1-3.7",
    "12.6",
    "13.2",
    "12.4",
  ]);
  const named = (list: readonly string[]) => list.flatMap((source) => namedTrials(source) ?? []);
  const ofServer = (text: string): readonly string[] => {
    const source = parseComparisonSource(text);
    return source?.kind === "trials" ? trialsOfRanges(source.experiment, source.ranges) : [];
  };
  fc.assert(
    fc.property(trials(fc.oneof(someTrial, closeTrial)), (list) => {
      const sources = sourcesOf(list);
      expect(sources.every(isSource)).toBe(true);
      expect(named(readSources(sourcesText(sources)))).toEqual(list);
      expect(sources.flatMap(ofServer)).toEqual(list);
    }),
  );
});

test("a link names its sources, and writes neighbouring trials as one", () => {
  expect(compareLink([])).toBe("/compare");
  expect(compareLink(["12.10"])).toBe("/compare?of=12.10~");
  expect(compareLink(["12.1", "12.2", "13.best", "13.4", "14.all"])).toBe(
    "/compare?of=12.1-2~13.best~13.4~14.all",
  );
});

test("a source with more trials than can be compared is not written out", () => {
  expect(namedTrials("12.1-100000")).toHaveLength(comparedMax + 1);
  expect(namedTrials("12.all")).toBeNull();
  expect(namedTrials("twelve.1")).toBeNull();
});

test("a trial that is left out leaves the sources of other experiments as they are", () => {
  const present = ["12.1", "12.2", "12.3", "13.5", "14.1"];
  expect(withoutTrial(["12.all", "13.best", "14.1"], present, "12.2")).toEqual([
    "12.1.3",
    "13.best",
    "14.1",
  ]);
  expect(withoutTrial(["12.all", "13.best"], present, "13.5")).toEqual(["12.all"]);
  fc.assert(
    fc.property(trials(closeTrial), fc.nat(), (list, at) => {
      const trial = list[at % list.length] ?? "";
      const rest = withoutTrial(sourcesOf(list), list, trial);
      expect(new Set(rest.flatMap((source) => namedTrials(source) ?? []))).toEqual(
        new Set(list.filter((one) => one !== trial)),
      );
    }),
  );
});

test("sources that are added are there once", () => {
  expect(withSources(["12.1-3"], ["12.2", "12.4", "13.best", "13.best"])).toEqual([
    "12.1-3",
    "12.4",
    "13.best",
  ]);
});

test("sources and trials that are gone are left out of the link", () => {
  const present = ["12.1", "12.3", "14.1"];
  expect(withoutGone(["12.1-3", "13.best", "14.all"], present, ["12.2", "13.best"])).toEqual([
    "12.1.3",
    "14.all",
  ]);
});
