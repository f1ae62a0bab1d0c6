import { expect, test } from "vitest";
import { namesOfRoots } from "./audit.ts";

test("names that lead to other roots are names of folders, and of prefixes at any endpoint", () => {
  const roots = ["/a", "/a/b/c", "/a/d", "/ab/x", "s3://m/a/e", "s3://m/a/f/g at http://h:1"];
  expect(namesOfRoots("/a", roots)).toEqual(new Set(["b", "d"]));
  expect(namesOfRoots("/", ["/", "/a"])).toEqual(new Set(["a"]));
  expect(namesOfRoots("s3://m/a at https://other", roots)).toEqual(new Set(["e", "f"]));
  expect(namesOfRoots("s3://m/a/e", roots)).toEqual(new Set());
});
