import { expect, test } from "vitest";
import { sha512 } from "./sha512.ts";

async function ofPlatform(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-512", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

test("the hash of a text is that of the platform, at the lengths around a block, and of text beyond ASCII", async () => {
  const long = [111, 112, 127, 128, 129, 300].map((length) => "x".repeat(length));
  for (const text of ["", "abc", "Füße und 鍵 🔑", ...long]) {
    expect(sha512(text)).toBe(await ofPlatform(text));
  }
});
