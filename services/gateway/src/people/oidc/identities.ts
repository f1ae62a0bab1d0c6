/**
 * The users of identities. An identity is an issuer and a subject: neither an address nor a name ever finds a user. The
 * row of an identity is written with that of its new user, before the event that creates the user; a sign-in that finds
 * no event makes up for it.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { localUser } from "@trainyard/access";
import type { Rejection } from "@trainyard/kernel";
import { foldOf, inTransaction, type Work } from "@trainyard/runtime";
import type { Pool } from "pg";
import type { Asker, Backend } from "../../backend.ts";
import { nobody } from "../../http/caller.ts";
import { Problem } from "../../http/problem.ts";
import { users } from "../../streams.ts";
import { commit, rejectionOf } from "../commit.ts";
import { isLikeId } from "../descriptions.ts";
import {
  endSessions,
  type Identity,
  idsOfPeople,
  keyOfName,
  whileNameIsHeld,
} from "../user-rows.ts";
import { type Claims, createsUsers, groupsIn, nameIn, verifiedEmailIn } from "./claims.ts";
import { replaceGroups } from "./claimed-groups.ts";
import type { ProviderSettings } from "./config.ts";

const userFold = foldOf(users);

export class Identities {
  readonly #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** Returns the user whom a provider has signed in, with the groups of the claim. Throws a Problem for a refusal. */
  async signIn(claims: Claims, settings: ProviderSettings): Promise<string> {
    const { access, pool } = this.#backend.parts;
    if (!(await access.state()).hasUsers) {
      const detail = 'this cluster has no users yet: create the first one with "yard user create"';
      throw new Problem(403, "no_users", detail);
    }
    const groups = settings.groupsClaim === null ? null : groupsIn(claims, settings.groupsClaim);
    const identity = { issuer: claims.iss, subject: claims.sub };
    const by = `oidc:${settings.id}`;
    const user =
      (await userOfIdentity(pool, identity)) ?? (await this.#newPerson(identity, claims, settings));
    await this.#create(user, by);
    await access.requireEnabled(user);
    if (groups !== null) {
      const people = await idsOfPeople(pool);
      await commit(this.#backend, askerOf(by), (work) =>
        replaceGroups(work, user, groups, { by, people }),
      );
    }
    return user;
  }

  /** Joins an identity to a user who has asked for it. Throws a Problem if another user has it. */
  async join(user: string, identity: Identity, by: string): Promise<void> {
    await addIdentity(this.#backend.parts.pool, identity, user);
    await commit(this.#backend, askerOf(by), (work) =>
      decideUser(work, user, { type: "describe", by }),
    );
  }

  /** Writes the row of a new user, whose name is free. Returns its id. */
  async #newPerson(
    identity: Identity,
    claims: Claims,
    settings: ProviderSettings,
  ): Promise<string> {
    if (!createsUsers(claims, settings)) {
      const detail = `no user of this cluster has your identity of ${settings.name}: ask an admin, or sign in otherwise and add it to your account`;
      throw new Problem(403, "no_such_identity", detail);
    }
    const { pool, directory } = this.#backend.parts;
    const person = { name: nameIn(claims, settings.nameClaim), email: verifiedEmailIn(claims) };
    try {
      const { id, name } = await putPerson(pool, identity, person);
      directory.set(id, name);
      return id;
    } catch (error) {
      // The person signs in twice at once, and the other sign-in has written the row.
      const user = await userOfIdentity(pool, identity);
      if (user === undefined) throw error;
      return user;
    }
  }

  /** Creates a user, unless the log has it. */
  async #create(user: string, by: string): Promise<void> {
    const { state } = await this.#backend.parts.executor.cache.load(userFold, user);
    if (state.kind !== null) return;
    await commit(this.#backend, askerOf(by), (work) =>
      decideUser(work, user, { type: "create", kind: "person", by }),
    );
  }
}

async function decideUser(
  work: Work,
  user: string,
  command: Parameters<typeof users.decider.decide>[1],
): Promise<Rejection | undefined> {
  return rejectionOf(await work.decide(users, user, command));
}

const askerOf = (authid: string): Asker => ({
  caller: { ...nobody, authid },
  commitId: randomUUID(),
  traceparent: "",
});

async function userOfIdentity(
  pool: Pool,
  { issuer, subject }: Identity,
): Promise<string | undefined> {
  const { rows } = await pool.query<{ user: string }>(
    `select user_id as "user" from gateway.identities where issuer = $1 and subject = $2`,
    [issuer, subject],
  );
  return rows[0]?.user;
}

/** Adds an identity to a user. Throws a Problem if another user has it. */
export async function addIdentity(pool: Pool, identity: Identity, user: string): Promise<void> {
  await pool.query(
    `insert into gateway.identities (issuer, subject, user_id) values ($1, $2, $3)
     on conflict do nothing`,
    [identity.issuer, identity.subject, user],
  );
  if ((await userOfIdentity(pool, identity)) === user) return;
  throw new Problem(409, "identity_taken", "this identity belongs to another user");
}

/**
 * Removes an identity from a user, and ends the user's sessions except one. Throws a Problem if it must not be the last
 * way in which the user signs in, but is.
 */
export async function removeIdentity(
  pool: Pool,
  { issuer, subject }: Identity,
  user: string,
  { keptSession, mayBeLast }: { readonly keptSession: string; readonly mayBeLast: boolean },
): Promise<void> {
  await inTransaction(pool, async (client) => {
    // The lock makes removals of a user's identities one after the other.
    const { rows } = await client.query<{ hasPassword: boolean }>(
      `select password_hash is not null as "hasPassword" from gateway.users where id = $1 for update`,
      [user],
    );
    const { rowCount } = await client.query(
      "delete from gateway.identities where issuer = $1 and subject = $2 and user_id = $3",
      [issuer, subject, user],
    );
    if (rowCount === 0) return;
    const { rows: left } = await client.query(
      "select from gateway.identities where user_id = $1 limit 1",
      [user],
    );
    if (!mayBeLast && rows[0]?.hasPassword !== true && left.length === 0) throw lastSignIn();
    await endSessions(client, user, keptSession);
  });
}

function lastSignIn(): Problem {
  const detail =
    "you sign in by this identity only: add another one first, or ask an admin for a password";
  return new Problem(409, "last_sign_in", detail);
}

/** Writes the rows of a person and its identity: the first name that is free, with a number if the name is taken. */
async function putPerson(
  pool: Pool,
  { issuer, subject }: Identity,
  { name: wanted, email }: { readonly name: string; readonly email: string },
): Promise<{ readonly id: string; readonly name: string }> {
  const id = randomBytes(6).toString("hex");
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${wanted}${number}`;
    if (keyOfName(name) === localUser || isLikeId(name)) continue;
    const { rowCount } = await whileNameIsHeld(pool, name, (client) =>
      client.query(
        `with person as (
           insert into gateway.users (id, name, name_key, email, kind)
           values ($1, $2, $3, $4, 'person') on conflict (name_key) do nothing returning id)
         insert into gateway.identities (issuer, subject, user_id) select $5, $6, id from person`,
        [id, name, keyOfName(name), email, issuer, subject],
      ),
    );
    if (rowCount === 1) return { id, name };
  }
}
