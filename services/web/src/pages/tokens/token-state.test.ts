import { expect, test } from "vitest";
import { lifetimesOf, tokenState } from "./token-state.ts";

test("a token works until it expires or is revoked", () => {
  expect(tokenState({ revoked: false }, 5)).toBe("valid");
  expect(tokenState({ revoked: false, expiresAtMs: 6 }, 5)).toBe("valid");
  expect(tokenState({ revoked: false, expiresAtMs: 5 }, 5)).toBe("expired");
  expect(tokenState({ revoked: true, expiresAtMs: 5 }, 9)).toBe("revoked");
});

test("a new token ends with the session or with its token, whichever is first, and no longer lifetime is offered", () => {
  const hour = 3_600_000;
  const offered = (session: Parameters<typeof lifetimesOf>[0]) =>
    lifetimesOf(session, 0).map(({ seconds }) => seconds);
  expect(offered({ expiresAtMs: 12 * hour })).toEqual([0, 3_600, 14_400]);
  expect(offered({ expiresAtMs: 12 * hour, tokenExpiresAtMs: 2 * hour })).toEqual([0, 3_600]);
  expect(offered({ expiresAtMs: 12 * hour, tokenExpiresAtMs: hour })).toEqual([0]);
});
