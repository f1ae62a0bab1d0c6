import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalQuantity, nanoOf } from "./quantity.ts";

test.each([
  ["1000m", "1"],
  ["0.5", "500m"],
  ["1.5Gi", "1536Mi"],
  ["1024Mi", "1Gi"],
  ["1e3", "1e3"],
  ["12e6", "12e6"],
  ["0", "0"],
  ["-1k", "-1k"],
  ["1 Gi", null],
  ["one", null],
])("the quantity %s is stored as %s", (given, stored) => {
  expect(canonicalQuantity(given)).toBe(stored);
});

test("a canonical quantity has the same amount, and stays as it is", () => {
  const suffix = fc.constantFrom("", "m", "k", "M", "Ki", "Mi", "Gi");
  fc.assert(
    fc.property(fc.nat(100_000), suffix, (amount, unit) => {
      const stored = canonicalQuantity(`${amount}${unit}`) ?? "";
      expect(nanoOf(stored)).toBe(nanoOf(`${amount}${unit}`));
      expect(canonicalQuantity(stored)).toBe(stored);
    }),
  );
});
