/**
 * Sessions of browsers, and the codes that open a session. Both are secrets of 32 random bytes. A secret is returned
 * once, and its row has only the SHA-256.
 *
 *   code ──redeemed once, within 10 minutes──► session ──12 h unused, its end, or signed out──► (none)
 *
 * A session refers to its token, and each request checks again whether that token is valid. The session of a person who
 * signed in with a password has no token: it ends with the password, and while the user is disabled.
 */
import { randomBytes } from "node:crypto";
import { assert } from "@trainyard/kernel";
import type { Pool } from "pg";
import { digestOfSecret, type OpenSession } from "../http/caller.ts";
import { httpLimits } from "./limits.ts";
import type { Expired } from "./sweep.ts";

/** The least interval between two updates of a session's last use. */
const sessionUsedSeconds = 60;

export type Secret = { readonly secret: string; readonly expiresAtMs: number };

const { sessionIdleHours: idleHours } = httpLimits;

/** SQL for the end of a session without further use, in milliseconds since 1970; null counts as no other end. */
const endMs =
  "(extract(epoch from least(now() + make_interval(hours => $2), ends_at)) * 1000)::float8";

/** SQL for a session that has not ended. */
const isOpen =
  "used_at > now() - make_interval(hours => $2) and (ends_at is null or ends_at > now())";

export class Sessions {
  readonly #pool: Pool;
  #cluster = "";

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Reads the cluster's id once, after the migrations. */
  async prepare(): Promise<void> {
    const { rows } = await this.#pool.query<{ id: string }>("select id from gateway.cluster");
    this.#cluster = rows[0]?.id ?? "";
  }

  /** The cluster's id: twelve hexadecimal digits. */
  get clusterId(): string {
    return this.#cluster;
  }

  /** Opens a session of a token. If the token has too many, the one with the oldest use ends. */
  async open(token: string): Promise<Secret> {
    const opened = await this.#open("select $3::text as token", token);
    assert(opened !== undefined, "a session of a token is opened");
    return opened;
  }

  /**
   * Opens a session of a person whose password had a hash; undefined if the password has changed since. The lock of the
   * row makes a change of the password wait, so that it ends this session, too.
   */
  openOfPerson(user: string, hash: string): Promise<Secret | undefined> {
    return this.#openOfUser(user, { hash, hours: null });
  }

  /** Opens a session of a person whom an identity provider has signed in. It ends after some hours, used or not. */
  async openOfIdentity(user: string, hours: number): Promise<Secret> {
    const opened = await this.#openOfUser(user, { hash: null, hours });
    assert(opened !== undefined, "a session of a user is opened");
    return opened;
  }

  async #openOfUser(
    user: string,
    { hash, hours }: { readonly hash: string | null; readonly hours: number | null },
  ): Promise<Secret | undefined> {
    const secret = newSecret();
    const { rows } = await this.#pool.query<{ ends: number }>(
      `with of as (
         select id from gateway.users
         where id = $3 and ($4::text is null or password_hash = $4) for share), surplus as (
         delete from gateway.sessions where digest in (
           select digest from gateway.sessions where user_id = $3 and user_id <> ''
           order by used_at desc offset $5))
       insert into gateway.sessions (digest, token, user_id, ends_at)
       select $1, '', id, now() + make_interval(hours => $6) from of
       returning ${endMs} as ends`,
      [digestOfSecret(secret), idleHours, user, hash, httpLimits.sessionsOfTokenMax - 1, hours],
    );
    return rows[0] === undefined ? undefined : { secret, expiresAtMs: rows[0].ends };
  }

  /** Whether a session was opened within some minutes. */
  async isFresh(digest: string, minutes: number): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      `select from gateway.sessions
       where digest = $1 and opened_at > now() - make_interval(mins => $2)`,
      [digest, minutes],
    );
    return rowCount === 1;
  }

  /** Opens a session for the token that a statement returns, if it returns one; its only parameter is $3. */
  async #open(tokenOf: string, parameter: string): Promise<Secret | undefined> {
    const secret = newSecret();
    const { rows } = await this.#pool.query<{ ends: number }>(
      `with of as (${tokenOf}), surplus as (
         delete from gateway.sessions where digest in (
           select digest from gateway.sessions where token in (select token from of)
           order by used_at desc offset $4))
       insert into gateway.sessions (digest, token) select $1, token from of
       returning ${endMs} as ends`,
      [digestOfSecret(secret), idleHours, parameter, httpLimits.sessionsOfTokenMax - 1],
    );
    return rows[0] === undefined ? undefined : { secret, expiresAtMs: rows[0].ends };
  }

  /** Returns the open sessions with these secrets, by secret, and marks them as used. */
  async find(secrets: readonly string[]): Promise<ReadonlyMap<string, OpenSession>> {
    const wellFormed = secrets.filter((secret) => secretPattern.test(secret));
    if (wellFormed.length === 0) return new Map();
    const secretOf = new Map(wellFormed.map((secret) => [digestOfSecret(secret), secret]));
    const { rows } = await this.#pool.query<{
      digest: string;
      token: string;
      user: string;
      ends: number;
      stale: boolean;
    }>(
      `select digest, token, user_id as user, ${endMs} as ends,
         used_at < now() - make_interval(secs => $3) as stale
       from gateway.sessions
       where digest = any($1) and ${isOpen}`,
      [[...secretOf.keys()], idleHours, sessionUsedSeconds],
    );
    await this.touch(rows.filter(({ stale }) => stale).map(({ digest }) => digest));
    return new Map(
      rows.map(({ digest, token, user, ends }) => [
        secretOf.get(digest) ?? "",
        { digest, token, user, expiresAtMs: ends },
      ]),
    );
  }

  /** Returns those of the sessions that are open, and marks them as used. */
  async touch(digests: readonly string[]): Promise<ReadonlySet<string>> {
    if (digests.length === 0) return new Set();
    const { rows } = await this.#pool.query<{ digest: string }>(
      `update gateway.sessions set used_at = now()
       where digest = any($1) and ${isOpen} returning digest`,
      [digests, idleHours],
    );
    return new Set(rows.map(({ digest }) => digest));
  }

  /** Returns those of the sessions that are open. */
  async stillOpen(digests: readonly string[]): Promise<ReadonlySet<string>> {
    if (digests.length === 0) return new Set();
    const { rows } = await this.#pool.query<{ digest: string }>(
      `select digest from gateway.sessions
       where digest = any($1) and ${isOpen}`,
      [digests, idleHours],
    );
    return new Set(rows.map(({ digest }) => digest));
  }

  async end(digest: string): Promise<void> {
    await this.#pool.query("delete from gateway.sessions where digest = $1", [digest]);
  }

  /** Makes a code that opens one session of a token. */
  async newCode(token: string): Promise<Secret> {
    const secret = newSecret();
    const { rows } = await this.#pool.query<{ ends: number }>(
      `insert into gateway.session_codes (digest, token, expires_at)
       values ($1, $2, now() + make_interval(mins => $3))
       returning (extract(epoch from expires_at) * 1000)::float8 as ends`,
      [digestOfSecret(secret), token, httpLimits.sessionCodeMinutes],
    );
    return { secret, expiresAtMs: rows[0]?.ends ?? 0 };
  }

  /** Returns the token of a code; undefined if the code is unknown, used or expired. */
  async tokenOfCode(code: string): Promise<string | undefined> {
    if (!secretPattern.test(code)) return undefined;
    const { rows } = await this.#pool.query<{ token: string }>(
      "select token from gateway.session_codes where digest = $1 and expires_at > now()",
      [digestOfSecret(code)],
    );
    return rows[0]?.token;
  }

  /** Opens the session of a code and deletes the code, in one statement. Returns undefined if the code is invalid. */
  redeem(code: string): Promise<Secret | undefined> {
    return this.#open(
      "delete from gateway.session_codes where digest = $3 and expires_at > now() returning token",
      digestOfSecret(code),
    );
  }
}

/** Ended sessions and codes. */
export const expiredSessions: readonly Expired[] = [
  {
    table: "gateway.sessions",
    where: `used_at < now() - interval '${idleHours} hours' or ends_at < now()`,
  },
  { table: "gateway.session_codes", where: "expires_at < now()" },
];

/** The form of a secret. A text of another form is not looked up. */
const secretPattern = /^[A-Za-z0-9_-]{43}$/;

function newSecret(): string {
  return randomBytes(32).toString("base64url");
}
