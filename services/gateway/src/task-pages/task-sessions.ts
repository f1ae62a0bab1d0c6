/**
 * The sessions of browsers with one host of a task, and the codes that open them. Like the sessions of the Web UI, both
 * are secrets of 32 random bytes, and a row has only the SHA-256.
 *
 *   code ──redeemed once, within 60 s──► session ──12 h unused──► (none)
 *
 * A row refers to the token, and to the session of the Web UI if one asked: it ends with both, and with the task. The
 * session of a person who signed in has no token.
 */
import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { digestOfSecret } from "../http/caller.ts";
import { httpLimits } from "../http/limits.ts";
import type { Expired } from "../http/sweep.ts";
import { taskPageLimits } from "./limits.ts";

/** The host that a session belongs to. */
export type TaskPlace = { readonly task: string; readonly port: number };

/**
 * The person for whom a code is made: a token, which is empty for a person who signed in, and the digest of the session
 * that asked, which is null for a token itself.
 */
export type Asker = { readonly token: string; readonly session: string | null };

export type TaskSession = Asker & {
  readonly digest: string;
  readonly task: string;
  /** The id of the person who signed in; empty for a token. */
  readonly user: string;
  /** The end of the Web UI's session without further use, in milliseconds since 1970; null without one. */
  readonly sessionEndsAtMs: number | null;
};

type Row = Omit<TaskSession, "sessionEndsAtMs"> & { readonly ends: number | null };

/** Rows of sessions that have not ended, with the one of the Web UI that each depends on. Parameter $1: hours. */
const openSessions = `select t.digest, t.token, t.session, t.task, t.port, t.used_at,
    coalesce(s.user_id, '') as user,
    (extract(epoch from least(s.used_at + make_interval(hours => $1), s.ends_at)) * 1000)::float8 as ends
  from gateway.task_sessions t left join gateway.sessions s on s.digest = t.session
  where t.used_at > now() - make_interval(hours => $1)
    and (t.session is null or s.used_at > now() - make_interval(hours => $1)
      and (s.ends_at is null or s.ends_at > now()))`;

export class TaskSessions {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Makes a code that opens one session with one host. */
  async newCode(
    { task, port }: TaskPlace,
    { token, session }: Asker,
  ): Promise<{ readonly code: string; readonly expiresAtMs: number }> {
    const code = randomBytes(32).toString("base64url");
    const { rows } = await this.#pool.query<{ ends: number }>(
      `with surplus as (delete from gateway.task_codes where digest in (
           select digest from gateway.task_codes
           where token = $4 and (token <> '' or session = $5) order by expires_at desc offset $7))
       insert into gateway.task_codes (digest, task, port, token, session, expires_at)
       values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))
       returning (extract(epoch from expires_at) * 1000)::float8 as ends`,
      [
        ...[digestOfSecret(code), task, port, token, session, taskPageLimits.codeSeconds],
        taskPageLimits.sessionsOfTokenMax - 1,
      ],
    );
    return { code, expiresAtMs: rows[0]?.ends ?? 0 };
  }

  /**
   * Opens the session of a code for its host. Returns null if the code is unknown, used, expired or of another host. If
   * the token has too many sessions, the one with the oldest use ends.
   */
  async redeem({ task, port }: TaskPlace, code: string): Promise<string | null> {
    const secret = randomBytes(32).toString("base64url");
    const { rows } = await this.#pool.query(
      `with code as (delete from gateway.task_codes
         where digest = $1 and task = $2 and port = $3 and expires_at > now()
         returning token, session),
       surplus as (delete from gateway.task_sessions where digest in (
         select t.digest from gateway.task_sessions t, code
         where t.token = code.token and (t.token <> '' or t.session = code.session)
         order by t.used_at desc offset $5))
       insert into gateway.task_sessions (digest, task, port, token, session)
       select $4, $2, $3, token, session from code returning digest`,
      [
        ...[digestOfSecret(code), task, port, digestOfSecret(secret)],
        taskPageLimits.sessionsOfTokenMax - 1,
      ],
    );
    return rows.length === 0 ? null : secret;
  }

  /** Returns the open session with this secret on this host, and counts it as used; null if there is none. */
  async find({ task, port }: TaskPlace, secret: string): Promise<TaskSession | null> {
    const { rows } = await this.#pool.query<Row & { stale: boolean }>(
      `select *, used_at < now() - make_interval(secs => $5) as stale
       from (${openSessions}) as o where digest = $2 and task = $3 and port = $4`,
      [
        httpLimits.sessionIdleHours,
        digestOfSecret(secret),
        task,
        port,
        taskPageLimits.usedEverySeconds,
      ],
    );
    const [row] = rows;
    if (row === undefined) return null;
    if (row.stale) await this.touch([row.digest]);
    return sessionOf(row);
  }

  /** Returns those of the sessions that are open. */
  async alive(digests: readonly string[]): Promise<ReadonlyMap<string, TaskSession>> {
    if (digests.length === 0) return new Map();
    const { rows } = await this.#pool.query<Row>(
      `select * from (${openSessions}) as o where digest = any($2)`,
      [httpLimits.sessionIdleHours, digests],
    );
    return new Map(rows.map((row) => [row.digest, sessionOf(row)]));
  }

  /** Counts sessions as used, with those of the Web UI that they depend on: their user works in the task's page. */
  async touch(digests: readonly string[]): Promise<void> {
    if (digests.length === 0) return;
    await this.#pool.query(
      `with used as (update gateway.task_sessions set used_at = now()
         where digest = any($1) returning session)
       update gateway.sessions set used_at = now() where digest in (select session from used)`,
      [digests],
    );
  }
}

/** Ended sessions and codes. */
export const expiredTaskSessions: readonly Expired[] = [
  {
    table: "gateway.task_sessions",
    where: `used_at < now() - interval '${httpLimits.sessionIdleHours} hours'
      or session is not null and not exists (select from gateway.sessions s where s.digest = old.session)`,
  },
  { table: "gateway.task_codes", where: "expires_at < now()" },
];

/** Deletes the sessions and codes of a deleted task. */
export async function endSessionsOfTask(pool: Pool, task: string): Promise<void> {
  await pool.query("delete from gateway.task_sessions where task = $1", [task]);
  await pool.query("delete from gateway.task_codes where task = $1", [task]);
}

function sessionOf({ digest, task, token, user, session, ends }: Row): TaskSession {
  return { digest, task, token, user, session, sessionEndsAtMs: ends };
}
