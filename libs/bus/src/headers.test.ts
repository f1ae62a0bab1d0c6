import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeHeaderValue, encodeHeaderValue } from "./headers.ts";

const anyText = fc.string({ unit: "binary" });

test("any text survives as a header value of printable ASCII", () => {
  fc.assert(
    fc.property(anyText, (value) => {
      const encoded = encodeHeaderValue(value);
      expect(encoded).toMatch(/^[\x21-\x7e]*$/);
      expect(decodeHeaderValue(encoded)).toBe(value);
    }),
  );
});

test("characters that the NATS binding of CloudEvents does not escape stay readable", () => {
  expect(encodeHeaderValue("/trainyard/experiments?a=b#c")).toBe("/trainyard/experiments?a=b#c");
  expect(encodeHeaderValue('Euro € "100%"')).toBe("Euro%20%E2%82%AC%20%22100%25%22");
});
