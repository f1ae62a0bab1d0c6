import { expect, test } from "vitest";
import { phaseWord, stateWord } from "./state-words.ts";

test("an experiment and a trial are shown by what they do", () => {
  expect(phaseWord({ state: "ACTIVE", phase: "queued" })).toBe("QUEUED");
  expect(phaseWord({ state: "ACTIVE", phase: "suspended at rung 2" })).toBe("SUSPENDED AT RUNG 2");
  expect(phaseWord({ state: "STOPPING_CANCELED" })).toBe("CANCELING");
  expect(phaseWord({ state: "COMPLETED" })).toBe("COMPLETED");
});

test("states of checkpoints have words, and other states are shown as they are", () => {
  const states = ["ACTIVE", "CONDEMNED", "PARTIALLY_DELETED", "COMPLETED"];
  expect(states.map(stateWord)).toEqual(["ACTIVE", "TO BE DELETED", "PARTLY DELETED", "COMPLETED"]);
});
