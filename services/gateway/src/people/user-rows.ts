/**
 * The rows of users: their names, addresses and the hashes of their passwords. A row is written before the event that
 * creates its user, so a row without the event is no user, and the next creation of the name takes it over.
 */
import { inTransaction } from "@trainyard/runtime";
import type { Pool, PoolClient } from "pg";
import type { UserKind } from "./core/user.ts";

export type UserRow = {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly email: string;
  readonly kind: UserKind;
  readonly createdAtMs: number;
  readonly hasPassword: boolean;
  readonly identities: readonly Identity[];
};

/** A person at an identity provider. */
export type Identity = { readonly issuer: string; readonly subject: string };

export type NewUser = Pick<UserRow, "id" | "name" | "displayName" | "email" | "kind"> & {
  readonly passwordHash: string | null;
};

type Queries = Pick<Pool | PoolClient, "query">;

const columns = `id, name, display_name as "displayName", email, kind,
  (extract(epoch from created_at) * 1000)::float8 as "createdAtMs", password_hash is not null as "hasPassword",
  array(select json_build_object('issuer', issuer, 'subject', subject) from gateway.identities
    where user_id = users.id order by issuer, subject) as identities`;

/** Returns the key of a name, which ignores case. */
export const keyOfName = (name: string): string => name.toLowerCase();

/** Returns the rows of users by their names or ids; a name takes precedence. */
export async function rowsOf(
  pool: Queries,
  users: readonly string[],
): Promise<ReadonlyMap<string, UserRow>> {
  // No name has a NUL, since PostgreSQL cannot store it in a text.
  const asked = users.filter((user) => !user.includes("\0"));
  if (asked.length === 0) return new Map();
  const { rows } = await pool.query<UserRow>(
    `select ${columns} from gateway.users where name_key = any($1) or id = any($2)`,
    [asked.map(keyOfName), asked],
  );
  const byName = new Map(rows.map((row) => [keyOfName(row.name), row]));
  const byId = new Map(rows.map((row) => [row.id, row]));
  const found = asked.flatMap((user) => {
    const row = byName.get(keyOfName(user)) ?? byId.get(user);
    return row === undefined ? [] : [[user, row] as const];
  });
  return new Map(found);
}

/** Returns the row with a name. */
export async function rowOfName(pool: Queries, name: string): Promise<UserRow | undefined> {
  const row = (await rowsOf(pool, [name])).get(name);
  return row !== undefined && keyOfName(row.name) === keyOfName(name) ? row : undefined;
}

/** Returns rows in the order of their names, after one of them. */
export async function listRows(
  pool: Queries,
  page: { readonly after: string; readonly prefix: string; readonly limit: number },
): Promise<readonly UserRow[]> {
  const { after, prefix, limit } = page;
  if (prefix.includes("\0") || after.includes("\0")) return [];
  const { rows } = await pool.query<UserRow>(
    `select ${columns} from gateway.users
     where name_key > $1 and (starts_with(name_key, $2) or starts_with(lower(display_name), $2))
     order by name_key limit $3`,
    [after, prefix.toLowerCase(), limit],
  );
  return rows;
}

/** Returns the ids of all people, also of disabled ones. */
export async function idsOfPeople(pool: Queries): Promise<readonly string[]> {
  const { rows } = await pool.query<{ id: string }>(
    "select id from gateway.users where kind = 'person' order by id",
  );
  return rows.map(({ id }) => id);
}

/**
 * Writes the row of a new user, or takes over the one of its name if it has the id `left`. Returns the id of the row;
 * undefined if another user has the name or the id.
 */
export async function putRow(
  pool: Queries,
  user: NewUser,
  left: string,
): Promise<string | undefined> {
  const { id, name, displayName, email, kind, passwordHash } = user;
  const put = pool.query<{ id: string }>(
    `insert into gateway.users (id, name, name_key, display_name, email, kind, password_hash)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (name_key) do update set name = excluded.name, display_name = excluded.display_name,
       email = excluded.email, kind = excluded.kind, password_hash = excluded.password_hash, created_at = now()
       where users.id = $8
     returning id`,
    [id, name, keyOfName(name), displayName, email, kind, passwordHash, left],
  );
  return (await unlessTaken(put))?.rows[0]?.id;
}

/** Returns what a statement returned; undefined if another row has the name or the id. */
async function unlessTaken<Result>(statement: Promise<Result>): Promise<Result | undefined> {
  try {
    return await statement;
  } catch (error) {
    if ((error as { readonly code?: string }).code === "23505") return undefined;
    throw error;
  }
}

/** Changes the names and the address. Returns false if another user has the name. */
export async function describeRow(
  pool: Queries,
  { id, name, displayName, email }: Pick<UserRow, "id" | "name" | "displayName" | "email">,
): Promise<boolean> {
  const described = pool.query(
    "update gateway.users set name = $2, name_key = $3, display_name = $4, email = $5 where id = $1",
    [id, name, keyOfName(name), displayName, email],
  );
  return (await unlessTaken(described)) !== undefined;
}

/** Sets the hash of a password, and ends the person's sessions except one; in one commit. */
export async function setPasswordHash(
  pool: Pool,
  {
    id,
    hash,
    keptSession,
  }: { readonly id: string; readonly hash: string; readonly keptSession: string },
): Promise<void> {
  await inTransaction(pool, async (client) => {
    // A session is opened with a lock of this row, so the second statement sees each one of the old password.
    await client.query("update gateway.users set password_hash = $2 where id = $1", [id, hash]);
    await endSessions(client, id, keptSession);
  });
}

/** Ends the sessions that a person has opened by signing in, except one. */
export async function endSessions(pool: Queries, user: string, except = ""): Promise<void> {
  await pool.query(
    "delete from gateway.sessions where user_id = $1 and user_id <> '' and digest <> $2",
    [user, except],
  );
}

/** Replaces a hash by one of the same password with the parameters of today. */
export async function rehash(
  pool: Queries,
  { id, hash, by }: { readonly id: string; readonly hash: string; readonly by: string },
): Promise<void> {
  await pool.query(
    "update gateway.users set password_hash = $3 where id = $1 and password_hash = $2",
    [id, hash, by],
  );
}

/** Returns the stored hash of the person with a name, and the id; undefined if no person with a password has it. */
export async function hashOfPerson(
  pool: Queries,
  name: string,
): Promise<{ readonly id: string; readonly hash: string } | undefined> {
  if (name.includes("\0")) return undefined;
  const { rows } = await pool.query<{ id: string; hash: string }>(
    `select id, password_hash as hash from gateway.users
     where name_key = $1 and kind = 'person' and password_hash is not null`,
    [keyOfName(name)],
  );
  return rows[0];
}

/** Runs creations of a name one after the other, on all gateways. */
export async function whileNameIsHeld<Result>(
  pool: Pool,
  name: string,
  task: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  const lock = "hashtext('gateway.users'), hashtext($1)";
  let isFree = false;
  try {
    await client.query(`select pg_advisory_lock(${lock})`, [keyOfName(name)]);
    try {
      return await task(client);
    } finally {
      await client.query(`select pg_advisory_unlock(${lock})`, [keyOfName(name)]);
      isFree = true;
    }
  } finally {
    // A connection that may still have the lock is closed, and the lock with it.
    client.release(!isFree);
  }
}
