import fc from "fast-check";
import { expect, test } from "vitest";
import { awkwardIds } from "./contract/fixture.ts";
import { matchesSubject } from "./subject-matching.ts";
import {
  decodeToken,
  encodeToken,
  eventSubject,
  inboxPrefixOf,
  metricSubject,
} from "./subjects.ts";

test("every id becomes one token, and different ids become different tokens", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (id) => {
      expect(encodeToken(id)).toMatch(/^[A-Za-z0-9_%-]*$/);
      expect(decodeToken(encodeToken(id))).toBe(id);
    }),
  );
});

test("the encoding of subjects is fixed", () => {
  expect(awkwardIds.map(encodeToken)).toEqual([
    "12%2E3",
    "12%2E3%232",
    "%2A",
    "%3E",
    "a%20b",
    "a%252Eb",
    "a%2Eb",
    "%C3%9Cbung-%E6%95%B0%E6%8D%AE-%F0%9F%99%82",
    "tab%09and%0D%0Aline",
  ]);
  expect(eventSubject("trial", "12.3", "TrialCreated")).toBe("ty.event.trial.12%2E3.TrialCreated");
  expect(metricSubject("12", "12.3", "training")).toBe("ty.metric.12.12%2E3.training");
  expect(inboxPrefixOf("agent-rack.1")).toBe("_INBOX_agent-rack%2E1");
});

test.each([
  ["a.b", "a.b", true],
  ["a.b", "a.b.c", false],
  ["a.b.c", "a.b", false],
  ["a.*.c", "a.b.c", true],
  ["a.*", "a.b.c", false],
  ["a.*", "a", false],
  ["a.>", "a.b.c", true],
  ["a.>", "a", false],
  [">", "a", true],
])("pattern %s matches subject %s: %s", (pattern, subject, matches) => {
  expect(matchesSubject(pattern, subject)).toBe(matches);
});
