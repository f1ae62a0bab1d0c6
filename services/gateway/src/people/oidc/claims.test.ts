import { expect, test } from "vitest";
import { createsUsers, nameIn, verifiedEmailIn } from "./claims.ts";
import { providersOf } from "./config.ts";
import { ownPage } from "./own-page.ts";

const claims = (more: Record<string, unknown>) => ({
  iss: "https://id.example.net",
  sub: "1",
  ...more,
});

const [config] = providersOf({
  TRAINYARD_OIDC_PROVIDERS: JSON.stringify([
    {
      ...{ id: "staff", name: "Staff", issuer: "https://id.example.net", client_id: "trainyard" },
      ...{ create_users_claim: "roles", create_users_value: "trains" },
    },
  ]),
});

test.each([
  ["trains", true],
  [["other", "trains"], true],
  [["trainspotter"], false],
  [undefined, false],
  [{ trains: true }, false],
])("the claim %j creates users: %s", (roles, isCreating) => {
  expect(config !== undefined && createsUsers(claims({ roles }), config)).toBe(isCreating);
});

test.each([
  ["Zoë Müller", "ZoeMuller"],
  ["ada@example.net", "ada@example.net"],
  ["张伟", "user"],
  ["..@-ada", "ada"],
  [7, "user"],
  ["a".repeat(300), "a".repeat(90)],
])("the claimed name %j becomes a name that a user may have", (name, cleaned) => {
  expect(nameIn(claims({ name }), "name")).toBe(cleaned);
});

test("only a verified address is stored", () => {
  const email = "ada@example.net";
  expect(verifiedEmailIn(claims({ email, email_verified: true }))).toBe(email);
  expect(verifiedEmailIn(claims({ email, email_verified: "true" }))).toBe("");
  expect(verifiedEmailIn(claims({ email: "Ada <a@b>", email_verified: true }))).toBe("");
});

test.each([
  ["/experiments/12?tab=logs#end", "/experiments/12?tab=logs#end"],
  ["//evil.example", "/"],
  ["/\\evil.example", "/"],
  ["/\t/evil.example", "/"],
  ["/.//evil.example", "/"],
  ["https://evil.example/", "/"],
  ["/auth/oidc/staff/join", "/"],
  ["/api/v1/experiments", "/"],
  [`/${"a".repeat(2_000)}`, "/"],
  [undefined, "/"],
])("a sign-in that asks for the page %j opens %s", (asked, page) => {
  expect(ownPage(asked)).toBe(page);
});
