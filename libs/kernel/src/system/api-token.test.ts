import { expect, test } from "vitest";
import { newApiToken, readApiToken } from "./api-token.ts";

test("a new token is read back with its id and its secret, and another has others", () => {
  const token = newApiToken();
  expect(readApiToken(token.text)).toEqual(token);
  const other = newApiToken();
  expect([other.id, other.secret]).not.toContain(token.id);
  expect(other.secret).not.toBe(token.secret);
  expect(readApiToken(newApiToken("0123456789abcdef").text)?.id).toBe("0123456789abcdef");
});

test.each(["", "ty1.a.b", "ty_0_a", `ty_${"0".repeat(16)}_short`, ` ${newApiToken().text}`])(
  "%j is no API token",
  (text) => {
    expect(readApiToken(text)).toBeNull();
  },
);
