import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { sha512 } from "./sha512.ts";

test("the hash of a text is that of the platform, at the lengths around a block, and of text beyond ASCII", () => {
  for (const text of ["", "abc"].concat(
    [111, 112, 127, 128, 129, 300].map((length) => "x".repeat(length)),
    ["Füße und 鍵 🔑"],
  )) {
    expect(sha512(text)).toBe(createHash("sha512").update(text).digest("hex"));
  }
});
