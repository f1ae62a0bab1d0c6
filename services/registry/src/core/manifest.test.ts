import { isRejection } from "@trainyard/kernel";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { registryLimits } from "../limits.ts";
import { bytesOf, canonicalText, readManifest, staysInside } from "./manifest.ts";

const sha256 = "0".repeat(64);
const file = (path: string, bytes = 1) => ({ path, bytes, sha256 });

describe("a manifest", () => {
  test("is the same for any order of files", () => {
    const one = readManifest([file("b"), file("a/c"), file("a.b")]);
    const other = readManifest([file("a.b"), file("b"), file("a/c")]);
    expect(one).toEqual(other);
    expect(isRejection(one) ? "" : canonicalText(one)).toBe(
      JSON.stringify([
        ["a.b", 1, sha256],
        ["a/c", 1, sha256],
        ["b", 1, sha256],
      ]),
    );
    expect(isRejection(one) ? 0 : bytesOf(one)).toBe(3);
  });

  test.each([
    ["no file", []],
    ["a path from the root", [file("/etc/passwd")]],
    ["a path upwards", [file("a/../../b")]],
    ["a path upwards at its end", [file("a/..")]],
    ["the folder itself", [file(".")]],
    ["an empty path", [file("")]],
    ["an empty part", [file("a//b")]],
    ["a NUL", [file("a\0b")]],
    ["a file twice", [file("a"), file("a")]],
    ["half a byte", [file("a", 0.5)]],
    ["a size below 0", [file("a", -1)]],
    ["no size", [file("a", Number.NaN)]],
    ["an invalid digest", [{ path: "a", bytes: 1, sha256: "xyz" }]],
    ["a digest in capitals", [{ path: "a", bytes: 1, sha256: "A".repeat(64) }]],
    ["too many files", Array.from({ length: registryLimits.filesMax + 1 }, (_, n) => file(`${n}`))],
    [
      "too long names together",
      Array.from({ length: 500 }, (_, n) => file(`${n}`.padEnd(3_000, "x"))),
    ],
  ])("with %s is refused", (_, files) => {
    expect(readManifest(files)).toMatchObject({ rejected: "invalid_manifest" });
  });

  test("with a wrong file is refused, naming the file", () => {
    const refused = readManifest([file("good"), file("../bad")]);
    expect(refused).toMatchObject({ problems: [{ path: "../bad" }] });
    expect(isRejection(refused) && refused.detail).toContain('"../bad"');
  });

  test("with a too long path is refused, quoting the beginning of the path", () => {
    const refused = readManifest([file("x".repeat(5_000))]);
    const detail = isRejection(refused) ? refused.detail : "";
    expect(detail).toBe(`the file "${"x".repeat(200)}"… has too long a path`);
  });

  test("accepts odd names unchanged", () => {
    expect(isRejection(readManifest([file("a\nb"), file("ü\\é"), file(" "), file("...")]))).toBe(
      false,
    );
  });

  test("never names a file outside the folder", () => {
    const part = fc.constantFrom("a", "..", ".", "", "b", "...");
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
        const path = parts.join("/");
        if (!staysInside(path)) return;
        const { pathname } = new URL(encodeURI(path), "http://x/folder/");
        expect(pathname.startsWith("/folder/")).toBe(true);
      }),
    );
  });
});
