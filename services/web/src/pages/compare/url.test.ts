import { defaultParseSearch, defaultStringifySearch } from "@tanstack/react-router";
import fc from "fast-check";
import { expect, test } from "vitest";
import { comparedMax, sourcesOf, sourcesText } from "../../components/compare-link.ts";
import { readSources } from "./sources.ts";
import {
  changedSearch,
  type CompareSearch,
  fits,
  groupText,
  metricsText,
  readGroupBy,
  readMetrics,
  readSearch,
} from "./url.ts";

const someTrial = fc
  .tuple(fc.integer({ min: 1, max: 99_999_999 }), fc.integer({ min: 1, max: 99_999 }))
  .map(([experiment, number]) => `${experiment}.${number}`);
const text = fc.string({ minLength: 1, maxLength: 60 });
const metric = fc.tuple(fc.stringMatching(/^[a-z_]{1,20}$/), text).map((pair) => pair.join(" "));

/** A view of up to a hundred trials of a hundred experiments. */
const someSearch = fc
  .record({
    trials: fc.uniqueArray(someTrial, { minLength: 1, maxLength: comparedMax }),
    metrics: fc.array(metric, { maxLength: 30 }),
    by: text,
    x: text,
    smooth: fc.integer({ min: 1, max: 99 }),
    all: fc.constant(true as const),
  })
  .map(
    ({ trials, metrics, by, ...rest }): CompareSearch => ({
      of: sourcesText(sourcesOf(trials)),
      metrics: metricsText(metrics),
      by: groupText({ kind: "hyperparameter", name: by }),
      tab: "values",
      zoom: "1795442938853..1795442998854",
      base: trials[0],
      at: trials[1],
      other: "99999999",
      ...rest,
    }),
  );

test("a link with a hundred trials has fewer than 2,000 characters, and names all of them", () => {
  fc.assert(
    fc.property(someSearch, (search) => {
      const kept = changedSearch({}, search);
      const link = `/compare${defaultStringifySearch(kept)}`;
      expect(link.length).toBeLessThan(2_000);
      expect(kept.of).toBe(search.of);
    }),
    { numRuns: 500 },
  );
});

test("a link is read as it was written", () => {
  fc.assert(
    fc.property(someSearch, (search) => {
      const kept = changedSearch({}, search);
      expect(readSearch(defaultParseSearch(defaultStringifySearch(kept)))).toEqual(kept);
    }),
  );
});

test("a lone trial is not read as a number", () => {
  const read = (link: string) => readSearch(defaultParseSearch(link));
  expect(readSources(read(`?of=${sourcesText(["12.10"])}`).of)).toEqual(["12.10"]);
  expect(read("?base=%2212.10%22").base).toBe("12.10");
});

test("invalid values of a link are left out", () => {
  expect(readSearch({ of: "12.1~13.all", tab: "nothing", smooth: 120, all: "yes", x: "" })).toEqual(
    {
      of: "12.1~13.all",
    },
  );
  expect(readGroupBy("hyperparameter:")).toBeNull();
  expect(readGroupBy("colour")).toBeNull();
  expect(readMetrics("loss~")).toBeNull();
});

test("groups and metrics are read as they were written", () => {
  expect(readGroupBy("label")).toEqual({ kind: "label" });
  fc.assert(
    fc.property(fc.uniqueArray(metric, { minLength: 1, maxLength: 10 }), text, (names, name) => {
      expect(readMetrics(metricsText(names))).toEqual(names);
      const by = { kind: "hyperparameter", name } as const;
      expect(readGroupBy(groupText(by))).toEqual(by);
    }),
  );
});

test("a chosen metric that has no room in the link is not offered", () => {
  const trials = Array.from({ length: comparedMax }, (_, at) => `${90_000_000 + at}.10000`);
  const search = { of: sourcesText(sourcesOf(trials)) };
  expect(fits(search, { metrics: metricsText(["validation loss"]) })).toBe(true);
  expect(fits(search, { metrics: metricsText([`validation ${"x".repeat(400)}`]) })).toBe(false);
});
