import { expect, test } from "vitest";
import { gcLimits } from "../../limits.ts";
import { awaitedOf, type RunOfCheckpoint } from "./awaited.ts";

const endedMs = 1_000;
const running: RunOfCheckpoint = { id: "1.2#3", next: null, end: null, arrived: {} };
const endNaming = (lastValidation: string | null) => ({ lastValidation, endedMs });
const awaited = (facts: Partial<RunOfCheckpoint>, nowMs = endedMs) =>
  awaitedOf({ ...running, ...facts }, nowMs);

test.each<[string, Partial<RunOfCheckpoint>]>([
  ["no validation before the next declaration", { next: "" }],
  ["one that has arrived", { next: "0-7", arrived: { 0: 7 } }],
  ["one before an arrived one of the same node", { next: "0-7", arrived: { 0: 9 } }],
  ["none at the end of the run", { end: endNaming("") }],
  ["an arrived one at the end of the run", { end: endNaming("0-7"), arrived: { 0: 7 } }],
])("a value is not waited for if the run names %s", (_, facts) => {
  expect(awaited(facts)).toBeUndefined();
});

test.each<[string, Partial<RunOfCheckpoint>, string]>([
  [
    "the next declaration names one that has not arrived",
    { next: "0-17", arrived: { 0: 16 } },
    "the run's reports up to 0-17 have not arrived",
  ],
  [
    "only another node's reports have arrived",
    { next: "0-17", arrived: { 1: 99 } },
    "the run's reports up to 0-17 have not arrived",
  ],
  [
    "the end names one that has not arrived",
    { end: endNaming("0-17") },
    "the run's reports up to 0-17 have not arrived",
  ],
  [
    "no agent saw the end",
    { end: endNaming(null), arrived: { 0: 99 } },
    "no agent saw the end of run 1.2#3, so its reports may still arrive",
  ],
  ["the run continues without another declaration", {}, "run 1.2#3 may still report it"],
])("a value is waited for while %s", (_, facts, why) => {
  expect(awaited(facts)).toBe(`its validation is not known yet: ${why}`);
});

test("a value is no longer waited for eight days after the end of the run", () => {
  const lateMs = endedMs + gcLimits.valueAwaitedMs;
  for (const end of [endNaming(null), endNaming("0-17")]) {
    expect(awaited({ end }, lateMs - 1)).toBeDefined();
    expect(awaited({ end, next: "0-17" }, lateMs)).toBeUndefined();
  }
  expect(awaited({}, Number.MAX_SAFE_INTEGER)).toBeDefined();
});
