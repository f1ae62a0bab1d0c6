import { expect, test } from "vitest";
import { kindText, signInText, stateText } from "./user-text.ts";

type User = Parameters<typeof signInText>[0];

const ada: User = { kind: "person", disabled: false, hasPassword: true, identities: [] };

test("a user's kind, state and ways to sign in are words", () => {
  expect([kindText(ada), stateText(ada), signInText(ada)]).toEqual([
    "person",
    "active",
    "password",
  ]);
  const issuers = ["https://id.example.org/realms/lab", "lab"];
  const identities = issuers.map((issuer) => ({ issuer, subject: "" }));
  expect(signInText({ ...ada, identities })).toBe("password, id.example.org, lab");
  const robot = { ...ada, kind: "service", disabled: true };
  expect([kindText(robot), stateText(robot), signInText(robot)]).toEqual([
    "service account",
    "disabled",
    "tokens only",
  ]);
});
