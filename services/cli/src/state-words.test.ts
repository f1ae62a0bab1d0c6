import { expect, test } from "vitest";
import { stateWord } from "./state-words.ts";

test("states of transitions have words, and other states are shown as they are", () => {
  const states = ["ACTIVE", "STOPPING_COMPLETED", "STOPPING_CANCELED", "CONDEMNED", "COMPLETED"];
  expect(states.map(stateWord)).toEqual([
    "ACTIVE",
    "STOPPING",
    "CANCELING",
    "TO BE DELETED",
    "COMPLETED",
  ]);
});
