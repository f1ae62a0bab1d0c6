import { expect, test } from "vitest";
import { headsOf } from "./heads.ts";

const column = (x: number, bracket = 0) => ({
  ...{ x, bracket, units: 3, trials: 9, kept: 3 },
  cutoff: 0.123456,
});

test("a column's heading has the number of trials that continue, and the cutoff", () => {
  expect(headsOf([column(100), column(300)])[0]).toEqual({
    units: "3",
    kept: "3 of 9 continue",
    cutoff: "cutoff 0.123456",
  });
  expect(headsOf([{ ...column(100), trials: 0, kept: 0, cutoff: undefined }])[0]).toEqual({
    units: "3",
    kept: "no trial",
    cutoff: "",
  });
});

test("close columns have short headings, so that no text covers another", () => {
  const [first] = headsOf([column(20), column(100)]);
  expect(first).toEqual({ units: "3", kept: "3 of 9", cutoff: "0.123" });
});

test("columns of several brackets are not close: they are below each other", () => {
  const columns = [column(100, 0), column(300, 0), column(100, 1)];
  expect(headsOf(columns)[0]?.kept).toBe("3 of 9 continue");
});

test("the last rung of a bracket has no cutoff: its heading is the number of its trials", () => {
  const last = { ...column(300), kept: 0, cutoff: undefined };
  expect(headsOf([column(100), last])[1]).toEqual({ units: "3", kept: "9 trials", cutoff: "" });
});
