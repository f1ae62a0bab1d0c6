import { expect, test } from "vitest";
import { modelPath } from "./paths.ts";

test("a name with a slash is one part of a path", () => {
  expect(modelPath("team/iris")).toBe("/models/team%2Firis");
});
