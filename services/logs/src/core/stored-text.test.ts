import fc from "fast-check";
import { expect, test } from "vitest";
import { fromStored, toStored } from "./stored-text.ts";

const texts = fc.string({ unit: fc.constantFrom("\0", "\u0001", "0", "1", "a", "é") });

test("any text is read back as it was stored, and no stored text contains U+0000", () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(toStored(text)).not.toContain("\0");
      expect(fromStored(toStored(text))).toBe(text);
    }),
  );
});

test("a text without U+0000 and U+0001 is stored unchanged", () => {
  expect(toStored("epoch 1\u001b[0m")).toBe("epoch 1\u001b[0m");
});
