import { expect, test } from "vitest";
import { kindText, signInText, stateText } from "./user-text.ts";

const ada = { kind: "person", disabled: false, hasPassword: true, issuers: [] as string[] };

test("a user's kind, state and ways to sign in are words", () => {
  expect([kindText(ada), stateText(ada), signInText(ada)]).toEqual([
    "person",
    "active",
    "password",
  ]);
  const issuers = ["https://id.example.org/realms/lab", "lab"];
  expect(signInText({ ...ada, issuers })).toBe("password, id.example.org, lab");
  const robot = { ...ada, kind: "service", disabled: true };
  expect([kindText(robot), stateText(robot), signInText(robot)]).toEqual([
    "service account",
    "disabled",
    "tokens only",
  ]);
});
