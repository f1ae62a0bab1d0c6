/** The users of the cluster: each has a row with its names, and a stream with its life. */
import { foldOf } from "@trainyard/runtime";
import type { Backend } from "../backend.ts";
import { Problem } from "../http/problem.ts";
import { siteOf } from "../rates/client-address.ts";
import { users } from "../streams.ts";
import type { UserState } from "./core/user.ts";
import { isOutdated, Passwords } from "./passwords.ts";
import { hashOfPerson, keyOfName, rehash, rowsOf, type UserRow } from "./user-rows.ts";
import { WrongPasswords } from "./wrong-passwords.ts";

const userFold = foldOf(users);

export type User = UserRow & Pick<UserState, "disabled">;

/** A person whose password was right, and the hash that it was compared with. */
export type Verified = { readonly id: string; readonly hash: string };

export class People {
  readonly passwords = new Passwords();
  readonly #backend: Backend;
  readonly #wrong: WrongPasswords;

  constructor(backend: Backend) {
    this.#backend = backend;
    this.#wrong = new WrongPasswords(backend.parts.pool);
  }

  /** Returns the users that rows are of, in their order. A row without an event is no user. */
  async ofRows(rows: readonly UserRow[]): Promise<readonly User[]> {
    const { cache } = this.#backend.parts.executor;
    const all = await Promise.all(
      rows.map(async (row) => ({ row, ...(await cache.load(userFold, row.id)).state })),
    );
    return all.flatMap(({ row, kind, disabled }) => (kind === null ? [] : [{ ...row, disabled }]));
  }

  /** Returns a user by its name or id. Throws a Problem of 404 if there is none. */
  async find(user: string): Promise<User> {
    const [found] = await this.findAll([user]);
    if (found === undefined) throw noUser(user);
    return found;
  }

  /** Returns users by their names or ids, in this order. Throws a Problem of 404 if one is missing. */
  async findAll(names: readonly string[]): Promise<readonly User[]> {
    const rows = await rowsOf(this.#backend.parts.pool, names);
    const found = new Map((await this.ofRows([...rows.values()])).map((user) => [user.id, user]));
    return names.map((name) => {
      const user = found.get(rows.get(name)?.id ?? "");
      if (user === undefined) throw noUser(name);
      return user;
    });
  }

  /**
   * Returns the person with a name and a password; null for a wrong password or name, a service account and a disabled
   * user alike. Throws a Problem of 429 if the account or the address has to wait, or many passwords are being checked.
   */
  verify(name: string, password: string, address: string): Promise<Verified | null> {
    const { pool } = this.#backend.parts;
    const key = keyOfName(name);
    return this.passwords.checking(siteOf(address), password, async (matches) => {
      await this.#wrong.count(key, address);
      const stored = await hashOfPerson(pool, name);
      const isRight = await matches(stored?.hash ?? null);
      if (stored === undefined || !isRight || !(await this.#isOpen(stored.id))) return null;
      await this.#wrong.forget(key, address);
      return stored;
    });
  }

  /** Hashes a password again whose stored hash has lower parameters than those of today. */
  async refresh({ id, hash }: Verified, password: string, address: string): Promise<void> {
    if (!isOutdated(hash)) return;
    const by = await this.passwords.hash(password, siteOf(address));
    await rehash(this.#backend.parts.pool, { id, hash, by });
  }

  async #isOpen(id: string): Promise<boolean> {
    const { state } = await this.#backend.parts.executor.cache.load(userFold, id);
    return state.kind === "person" && !state.disabled;
  }
}

function noUser(user: string): Problem {
  return new Problem(
    404,
    "user_not_found",
    `there is no user ${JSON.stringify(user.slice(0, 80))}`,
  );
}
