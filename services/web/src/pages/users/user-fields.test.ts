import { expect, test } from "vitest";
import { newUser, requestOf } from "./user-fields.tsx";

test("a service account is created without the address and the role that were typed for a person", () => {
  const typed = { ...newUser, name: " ada ", email: "ada@example.org", admin: true };
  expect(requestOf(typed)).toMatchObject({ name: "ada", email: "ada@example.org", admin: true });
  expect(requestOf({ ...typed, kind: "service" })).toMatchObject({ email: "", admin: false });
});
