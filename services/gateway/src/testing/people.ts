/** Users in tests: appended to the log with their roles, without the calls that create them. */
import { randomBytes } from "node:crypto";
import { accessId, authidOf } from "@trainyard/access";
import type { AnyEvent } from "@trainyard/contracts";
import { newApiToken } from "@trainyard/kernel/api-token";
import { digestOfSecret } from "../http/caller.ts";

import type { TestGateway } from "./test-gateway.ts";

export type TestUser = {
  readonly id: string;
  readonly name: string;
  /** The text of a token of the user. */
  readonly token: string;
};

export type TestRole = {
  /** The id of the role. */
  readonly role: string;
  /** The name of the workspace; empty for everywhere. */
  readonly workspace?: string;
};

const by = "user:test";

/** Adds a user with roles of its own, and a token. From the first one on, the cluster has users. */
export async function addUser(
  gateway: Pick<TestGateway, "append" | "sql" | "call">,
  name: string,
  ...roles: readonly TestRole[]
): Promise<TestUser> {
  const id = name;
  await gateway.sql(
    `insert into gateway.users (id, name, name_key, kind) values ($1, $2, lower($2), 'person')
     on conflict do nothing`,
    [id, name],
  );
  await gateway.append(`user-${id}`, { type: "UserCreated", data: { kind: "person", by } });
  const given = roles.map(
    ({ role, workspace = "" }): AnyEvent => ({
      type: "RoleGiven",
      data: { grant: randomBytes(4).toString("hex"), role, user: id, group: "", workspace, by },
    }),
  );
  if (given.length > 0) await gateway.append(`access-${accessId}`, ...given);
  return { id, name, token: await addToken(gateway, authidOf(id)) };
}

/** Issues a token of an owner, and waits until the gateway knows it. It never expires at 0. Returns its text. */
export async function addToken(
  gateway: Pick<TestGateway, "append" | "call">,
  owner: string,
  limits: { readonly role: string; readonly workspaces: string[] }[] = [],
  expiresAtMs = 0,
): Promise<string> {
  const { id, secret, text: token } = newApiToken();
  const secretDigest = digestOfSecret(secret);
  const data = { label: "", owner, secretDigest, expiresAtMs, ancestors: [], limits };
  const position = await gateway.append(`token-${id}`, { type: "TokenIssued", data });
  await gateway.call("GET", `/api/v1/tokens?minPosition=${position}`);
  return token;
}

/** Opens a session of a person, as a sign-in does. Returns the headers of its requests. */
export async function openSession(
  { sql, url }: Pick<TestGateway, "sql" | "url">,
  user: string,
): Promise<Readonly<Record<string, string>>> {
  const secret = randomBytes(32).toString("base64url");
  await sql("insert into gateway.sessions (digest, token, user_id) values ($1, '', $2)", [
    digestOfSecret(secret),
    user,
  ]);
  const { rows } = await sql("select id from gateway.cluster");
  const [{ id } = { id: "" }] = rows as { id: string }[];
  return { cookie: `trainyard_${id}=${secret}`, origin: url };
}
