import { expect, test } from "vitest";
import { newPasswordFault, sentPassword } from "./password.ts";

test("a password is sent as Determined's command line sends it, in a secure context and without one", async () => {
  // printf GubPEmmotfiK9TMD6Zdwsecret | sha512sum
  const sent =
    "f6b1a15b3e3f6c5978ad185a85efc1c91f2da442e66c4ce48b12a36b5b4c04a4dbfe79f4fe07bf1eb0016e63d7613827e4c0ed3c8e3c305755792a556866a723";
  expect(await sentPassword("secret")).toBe(sent);
  expect(await sentPassword("secret", null)).toBe(sent);
});

test("a new password of fewer than 8 characters is refused in a sentence, since the gateway sees only its hash", () => {
  expect(newPasswordFault("1234567")).toBe("A password has at least 8 characters.");
  expect(newPasswordFault("ääääääää")).toBeUndefined();
  expect(newPasswordFault("")).toBeUndefined();
});
