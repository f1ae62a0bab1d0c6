import { expect, test } from "vitest";
import { trialName } from "./trial-name.ts";

test("a trial has one name on its experiment's page, by its id or its number", () => {
  expect(trialName("113.4")).toBe("trial 4");
  expect(trialName(4)).toBe("trial 4");
});
