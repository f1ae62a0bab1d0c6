import { expect, test } from "vitest";
import { listTotal, totalOf, totalText } from "./list-total.ts";

const page = (total: number, totalIsEstimate: boolean) => ({ items: [], total, totalIsEstimate });

test("an estimated number of rows is shown as one", () => {
  const estimate = listTotal(page(25_855, true), 1_000, true);
  expect(totalText(estimate)).toBe("about 25,855");
  expect(totalOf(estimate, "trial")).toBe("about 25,855 trials");
  expect(totalText(listTotal(page(8_000, false), 1_000, true))).toBe("8,000");
});

test("a list that is loaded to its end has the number of its rows, whatever was estimated", () => {
  expect(totalText(listTotal(page(25_855, true), 20_000, false))).toBe("20,000");
  expect(totalText(listTotal(undefined, 0, false))).toBe("0");
});
