/**
 * Creates users. The first person of a cluster becomes its admin, in one commit with the service account `local`, to
 * which the tokens belong that the cluster had before.
 */
import { accessId, localUser } from "@trainyard/access";
import type { RequestOf } from "@trainyard/contracts";
import { reject, type Rejection } from "@trainyard/kernel";
import { foldOf, type Work } from "@trainyard/runtime";
import type { PoolClient } from "pg";
import type { Backend } from "../backend.ts";
import { Problem, problemOf } from "../http/problem.ts";
import type { RequestContext } from "../http/request-context.ts";
import { access, users } from "../streams.ts";
import { commit, idFor, rejectionOf } from "./commit.ts";
import { requireDescription, requireName } from "./descriptions.ts";
import type { People, User } from "./people.ts";
import { passwordForm, randomPassword } from "./passwords.ts";
import { putRow, rowOfName, whileNameIsHeld } from "./user-rows.ts";
import type { UserKind } from "./core/user.ts";

const userFold = foldOf(users);
const accessFold = foldOf(access);

type Created = { readonly user: User; readonly position: string; readonly password: string };
type New = {
  readonly id: string;
  readonly name: string;
  readonly kind: UserKind;
  readonly isAdmin: boolean;
};

export async function createUser(
  backend: Backend,
  people: People,
  { name, displayName, email, kind: asked, password, admin: isAdmin }: RequestOf<"createUser">,
  context: RequestContext,
): Promise<Created> {
  requireName(name);
  requireDescription({ displayName, email });
  const kind = kindOf(asked, password);
  const { hasUsers } = await backend.parts.access.state();
  if (!hasUsers && kind === "service") {
    const detail = "the first user of a cluster is a person, who becomes its admin";
    throw new Problem(409, "no_users", detail);
  }
  const drawn = kind === "person" && password === "" ? randomPassword() : "";
  const form = drawn === "" ? password : passwordForm(drawn);
  const passwordHash =
    kind === "person" ? await people.passwords.hash(form, context.caller.authid) : null;
  const { pool, directory } = backend.parts;
  const { id, position } = await whileNameIsHeld(pool, name, async (client) => {
    const row = { id: idFor("user", context), name, displayName, email, kind, passwordHash };
    const id = await putRow(client, row, await leftRow(backend, client, row));
    if (id === undefined) throw problemOf(taken(name));
    if (!hasUsers) {
      const local = { id: localUser, name: localUser, displayName: "", email: "" };
      await putRow(client, { ...local, kind: "service", passwordHash: null }, localUser);
    }
    const position = await commit(backend, context, (work) =>
      decideNew(work, { id, name, kind, isAdmin }, context),
    );
    return { id, position };
  });
  directory.set(id, name);
  return { user: await people.find(id), position, password: drawn };
}

function kindOf(asked: string, password: string): UserKind {
  if (asked !== "" && asked !== "person" && asked !== "service") {
    throw new Problem(400, "invalid_request", "the kind of a user is person or service");
  }
  if (asked === "service" && password !== "") {
    const detail = "a service account has no password: it is used with tokens";
    throw new Problem(400, "invalid_request", detail);
  }
  return asked === "service" ? "service" : "person";
}

/**
 * Returns the id of a row with the name that is of no user; empty for none. Throws a Problem if a user has the name.
 * The log itself is read: an older state would give a user's row away.
 */
async function leftRow(
  { parts }: Backend,
  client: PoolClient,
  { id, name }: Pick<New, "id" | "name">,
): Promise<string> {
  const row = await rowOfName(client, name);
  if (row === undefined) return "";
  // The row of an identity belongs to its person, also before the event.
  const isUser =
    row.identities.length > 0 || (await parts.log.read(`user-${row.id}`, 0, 1)).length > 0;
  if (isUser && row.id === id) {
    const detail = `the user ${JSON.stringify(name)} was created, but the answer was lost: reset the password`;
    throw new Problem(409, "user_exists", detail);
  }
  if (isUser) throw problemOf(taken(row.name));
  return row.id;
}

async function decideNew(
  work: Work,
  { id, name, kind, isAdmin }: New,
  context: RequestContext,
): Promise<Rejection | undefined> {
  const by = context.caller.authid;
  if ((await work.load(userFold, id)).kind !== null) return taken(name);
  await work.decide(users, id, { type: "create", kind, by });
  const { hasUsers } = await work.load(accessFold, accessId);
  if (!hasUsers) {
    await work.decide(users, localUser, { type: "create", kind: "service", by });
    const begin = { kind: "begin", person: id, local: localUser, by } as const;
    return rejectionOf(await work.decide(access, accessId, begin));
  }
  if (!isAdmin) return undefined;
  const grant = { grant: idFor("grant", context), role: "cluster-admin", user: id, by };
  const give = { kind: "give", ...grant, group: "", workspace: "" } as const;
  return rejectionOf(await work.decide(access, accessId, give));
}

const taken = (name: string): Rejection =>
  reject("user_exists", `there is a user ${JSON.stringify(name)} already`);
