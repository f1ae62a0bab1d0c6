import { expect, test } from "vitest";
import { providersOf } from "./config.ts";

const one = {
  id: "staff",
  name: "Staff",
  issuer: "https://id.example.net",
  client_id: "trainyard",
};
const parsed = (...providers: unknown[]) =>
  providersOf({ TRAINYARD_OIDC_PROVIDERS: JSON.stringify(providers) });

test("a provider has the usual scopes and the usual claim of the name", () => {
  expect(parsed(one)).toEqual([
    {
      ...{ id: "staff", name: "Staff", issuer: "https://id.example.net", clientId: "trainyard" },
      ...{ secretFile: null, scopes: "openid profile email", creating: null, groupsClaim: null },
      nameClaim: "preferred_username",
    },
  ]);
});

test.each([
  ["{", "TRAINYARD_OIDC_PROVIDERS: must be a JSON list"],
  [JSON.stringify([one, one]), "TRAINYARD_OIDC_PROVIDERS: has two providers with the id staff"],
  [
    JSON.stringify([{ ...one, secret: "x" }]),
    'TRAINYARD_OIDC_PROVIDERS.0: Unrecognized key: "secret"',
  ],
  [
    JSON.stringify([{ ...one, issuer: "http://id.example.net" }]),
    "TRAINYARD_OIDC_PROVIDERS.0.issuer: must be an https address without a query; http only on this machine",
  ],
  [
    JSON.stringify([{ ...one, scopes: "profile" }]),
    "TRAINYARD_OIDC_PROVIDERS.0.scopes: must have openid, such as openid profile email",
  ],
  [
    JSON.stringify([{ ...one, client_secret_file: "/nowhere" }]),
    "TRAINYARD_OIDC_PROVIDERS.0.client_secret_file: must be a file that this process can read",
  ],
  [
    JSON.stringify([{ ...one, create_users_claim: "roles" }]),
    "TRAINYARD_OIDC_PROVIDERS: has one of create_users_claim and create_users_value for staff: set both or none",
  ],
])("a wrong setting is refused in one sentence: %s", (text, sentence) => {
  expect(() => providersOf({ TRAINYARD_OIDC_PROVIDERS: text })).toThrow(
    `environment variables are wrong: ${sentence}`,
  );
});
