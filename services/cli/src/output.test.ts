import { expect, test } from "vitest";
import { firstLine, number, Output, printable, time } from "./output.ts";

test("numbers are printed with six significant digits", () => {
  expect([0.1 + 0.2, 1e-9, 123_456_789, 2].map(number)).toEqual(["0.3", "1e-9", "123457000", "2"]);
  expect(number(undefined)).toBe("");
});

test("times are printed in UTC to the second", () => {
  expect(time(0)).toBe("1970-01-01 00:00:00");
  expect(time(undefined)).toBe("");
});

test("control characters are printed as escapes", () => {
  expect(printable("a\u001b[2Jb\nc")).toBe("a\\u001b[2Jb\\u000ac");
});

test("the first line of a reason excludes its traceback", () => {
  expect(firstLine("rank 3: ValueError\n\nTraceback")).toBe("rank 3: ValueError");
  expect(firstLine("finished")).toBe("finished");
});

test("a table of 1,000,000 rows is as wide as its widest cell", () => {
  let rows = 0;
  let last = "";
  class Counted extends Output {
    override line(text: string): void {
      rows += 1;
      last = text;
    }
  }
  const items = Array.from({ length: 1_000_000 }, (_, index) => index + 1);
  new Counted("table").table(items, [
    { title: "TRIAL", value: String, right: true },
    { title: "STATE", value: () => "COMPLETED" },
  ]);
  expect({ rows, last }).toEqual({ rows: 1_000_001, last: "1000000  COMPLETED" });
});
