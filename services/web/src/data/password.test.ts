import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { sentPassword } from "./password.ts";

test("a password is sent as Determined's command line sends it, in a secure context and without one", async () => {
  const sent = createHash("sha512").update("GubPEmmotfiK9TMD6Zdwpäss").digest("hex");
  expect(await sentPassword("päss")).toBe(sent);
  expect(await sentPassword("päss", null)).toBe(sent);
});
