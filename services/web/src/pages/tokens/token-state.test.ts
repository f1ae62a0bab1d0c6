import { expect, test } from "vitest";
import { tokenState } from "./token-state.ts";

test("a token works until it expires or is revoked", () => {
  expect(tokenState({ revoked: false }, 5)).toBe("valid");
  expect(tokenState({ revoked: false, expiresAtMs: 6 }, 5)).toBe("valid");
  expect(tokenState({ revoked: false, expiresAtMs: 5 }, 5)).toBe("expired");
  expect(tokenState({ revoked: true, expiresAtMs: 5 }, 9)).toBe("revoked");
});
