import { describe, expect, test } from "vitest";
import { keyPrefix } from "./objects/keys.ts";
import {
  addressForms,
  endpointVariable,
  sectionOfAddress,
  storeAddress,
  withoutEndpoint,
} from "./store-address.ts";

describe("the section of an address", () => {
  test.each([
    ["s3://models/team/a/", undefined, { type: "s3", bucket: "models", prefix: "team/a" }],
    [
      "s3://models",
      "https://m:9000",
      { type: "s3", bucket: "models", endpoint_url: "https://m:9000" },
    ],
    ["gs://models/a", "http://127.0.0.1:1", { type: "gcs", bucket: "models", prefix: "a" }],
    ["ftp://models/a", undefined, null],
    ["s3://", undefined, null],
    ["gs://models/a/../b", undefined, null],
  ])("of %s at endpoint %s is %j", (address, endpoint, section) => {
    expect(sectionOfAddress(address, endpoint)).toEqual(section);
    if (section !== null) expect(storeAddress(section)).toContain(address.replace(/\/$/, ""));
  });

  test("is the same for every notation of the key prefix", () => {
    for (const prefix of ["a/b", "/a/b/", "a//b", "//a///b//"]) {
      expect(storeAddress({ type: "s3", bucket: "x", prefix })).toBe("s3://x/a/b");
      expect(keyPrefix(prefix)).toBe("a/b/");
    }
    expect(storeAddress({ type: "gcs", bucket: "x", prefix: "//" })).toBe("gs://x");
  });
});

test("an address without its endpoint names the bucket and the prefix", () => {
  expect(withoutEndpoint("s3://models/a at https://m:9000")).toBe("s3://models/a");
  expect(withoutEndpoint("/mnt/a at https://m")).toBe("/mnt/a at https://m");
});

test("messages name the address of every kind of store", () => {
  expect(addressForms).toBe("s3://bucket/prefix or gs://bucket/prefix");
});

test("the operator chooses the endpoint of a store whose configuration has none", () => {
  expect(endpointVariable("gs://models")).toBe("TRAINYARD_STORAGE_GCS_ENDPOINT");
  expect(endpointVariable("s3://models")).toBeNull();
});
