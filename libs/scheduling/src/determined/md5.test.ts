import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { md5Le64 } from "./md5.ts";

test.each([
  ["", 0x04b2008fd98c1dd4n],
  ["abc", 0xb04fd23c98500190n],
  ["1234567890".repeat(8), 0x55c9e32ba2f4ed57n],
])("md5 of %o equals the digest in RFC 1321", (text, expected) => {
  expect(md5Le64(text)).toBe(expected);
});

test("md5 of any text equals the digest of node:crypto", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 100 }), (text) => {
      const digest = createHash("md5").update(text, "utf8").digest();
      expect(md5Le64(text)).toBe(digest.readBigUInt64LE(0));
    }),
  );
});
