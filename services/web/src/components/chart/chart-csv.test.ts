import { expect, test } from "vitest";
import { chartCsv } from "./chart-csv.ts";
import { lineFor } from "./example-lines.ts";

test("the CSV has a row for each bucket that is drawn, with its mean, minimum, maximum and count", () => {
  const many = { ...lineFor(2, [5, 15], [0.5, 0.25]), low: [0.4, 0.2], high: [0.6, 0.3] };
  const lines = [lineFor(1, [1, 10, 20], [3, 2, Number.NaN]), { ...many, count: [10, 10] }];
  expect(chartCsv(lines, "step", [0, 15])).toBe(
    [
      "trial,step,mean,min,max,count",
      "12.1,1,3,3,3,1",
      "12.1,10,2,2,2,1",
      "12.2,5,0.5,0.4,0.6,10",
      "12.2,15,0.25,0.2,0.3,10",
      "",
    ].join("\r\n"),
  );
  expect(chartCsv(lines, "step", [20, 20])).toContain("12.1,20,,,,1");
});

test("the name of a group is no formula for a spreadsheet", () => {
  const group = { ...lineFor(1, [1], [-3]), of: '=HYPERLINK("x")' };
  expect(chartCsv([group], "step", [0, 9])).toContain(`"'=HYPERLINK(""x"")",1,-3`);
});
