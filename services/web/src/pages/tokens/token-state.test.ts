import { expect, test } from "vitest";
import { lifetimesOf, limitText, tokenState } from "./token-state.ts";

test("a token works until it expires or is revoked", () => {
  expect(tokenState({ revoked: false }, 5)).toBe("valid");
  expect(tokenState({ revoked: false, expiresAtMs: 6 }, 5)).toBe("valid");
  expect(tokenState({ revoked: false, expiresAtMs: 5 }, 5)).toBe("expired");
  expect(tokenState({ revoked: true, expiresAtMs: 5 }, 9)).toBe("revoked");
});

test("a new token ends with the session or with its token, whichever is first, and no longer lifetime is offered", () => {
  const hour = 3_600_000;
  const offered = (session: { expiresAtMs: number; tokenExpiresAtMs?: number }) =>
    lifetimesOf({ token: "1f", ...session }, 0).map(({ seconds }) => seconds);
  expect(offered({ expiresAtMs: 12 * hour })).toEqual([0, 3_600, 14_400]);
  expect(offered({ expiresAtMs: 12 * hour, tokenExpiresAtMs: 2 * hour })).toEqual([0, 3_600]);
  expect(offered({ expiresAtMs: 12 * hour, tokenExpiresAtMs: hour })).toEqual([0]);
});

test("a person who signed in without a token creates tokens that last", () => {
  const titles = lifetimesOf({ token: "", expiresAtMs: 1 }, 0).map(({ title }) => title);
  expect(titles).toEqual(["30 days", "1 day", "1 year", "until it is revoked"]);
});

test("the limit of a token is its role and its workspaces", () => {
  expect(limitText({ role: "viewer", workspaces: ["a", "b"] })).toBe("viewer in a, b");
  expect(limitText({ role: "", workspaces: ["a"] })).toBe("in a");
  expect(limitText({ role: "", workspaces: [] })).toBe("");
});
