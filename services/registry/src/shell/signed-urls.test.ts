import { describe, expect, test } from "vitest";
import { registryLimits } from "../limits.ts";
import { readContextPath, signedContextPath } from "./signed-urls.ts";

const key = Buffer.from("k".repeat(32));
const blob = `contexts/${"ab".repeat(32)}.tar.gz`;
const nowMs = 1_700_000_000_000;
const path = signedContextPath(key, blob, nowMs);

describe("a signed address", () => {
  test("is valid for its five minutes only", () => {
    const end = nowMs + registryLimits.contextUrlMs;
    expect(readContextPath(key, path, nowMs)).toEqual({ kind: "granted", key: blob });
    expect(readContextPath(key, path, end)).toEqual({ kind: "granted", key: blob });
    expect(readContextPath(key, path, end + 1)).toEqual({ kind: "expired" });
  });

  test.each([
    ["another key", path, Buffer.from("x".repeat(32))],
    ["another digest", path.replace("ab", "cd"), key],
    ["another file of the digest", path.replace(".tar", ".2.tar"), key],
    ["a later end", path.replace(/expires=\d+/, "expires=9999999999999"), key],
    ["no end", path.replace(/expires=\d+&/, ""), key],
    ["no signature", path.replace(/&signature=.*/, ""), key],
    ["a signature that was cut", path.slice(0, -1), key],
  ])("is not genuine with %s", (_, changed, withKey) => {
    expect(readContextPath(withKey, changed, nowMs)).toEqual({ kind: "forbidden" });
  });

  test.each([
    "/",
    "/readyz",
    "/contexts/",
    "/contexts/x.tar.gz",
    `/contexts/${"ab".repeat(32)}.0.tar.gz`,
    `/contexts/${"ab".repeat(32)}.1.json`,
    "//",
    "/contexts/../secret",
    "::",
  ])("%s is none", (url) =>
    expect(readContextPath(key, url, nowMs)).toEqual({ kind: "elsewhere" }),
  );
});
