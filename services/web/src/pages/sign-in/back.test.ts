import { expect, test } from "vitest";
import { backTo } from "./back.ts";

test("the sign-in page redirects only to a page of its own origin", () => {
  expect(backTo("/experiments?filter=state%20%3D%20ERROR")).toBe(
    "/experiments?filter=state%20%3D%20ERROR",
  );
  for (const path of ["//evil.example", "/\\evil.example", "https://evil.example", "evil", ""]) {
    expect(backTo(path)).toBe("/");
  }
  expect(backTo("/sign-in?back=/sign-in")).toBe("/");
  expect(backTo(undefined)).toBe("/");
});
