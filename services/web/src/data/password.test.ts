import { expect, test } from "vitest";
import { sentPassword } from "./password.ts";

test("a password is sent as Determined's command line sends it, in a secure context and without one", async () => {
  // printf GubPEmmotfiK9TMD6Zdwsecret | sha512sum
  const sent =
    "f6b1a15b3e3f6c5978ad185a85efc1c91f2da442e66c4ce48b12a36b5b4c04a4dbfe79f4fe07bf1eb0016e63d7613827e4c0ed3c8e3c305755792a556866a723";
  expect(await sentPassword("secret")).toBe(sent);
  expect(await sentPassword("secret", null)).toBe(sent);
});
