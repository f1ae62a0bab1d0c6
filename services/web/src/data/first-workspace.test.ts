import { expect, test } from "vitest";
import { firstWorkspace } from "./first-workspace.ts";

test("the workspace that a form begins with is default, or the first one for a person who may not use that", () => {
  expect(firstWorkspace(["audio", "default"])).toBe("default");
  expect(firstWorkspace(["audio", "vision"])).toBe("audio");
  expect(firstWorkspace([])).toBe("default");
});
