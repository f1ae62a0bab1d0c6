/**
 * Sign-ins of programs that wait for a person (RFC 8628). A row has the SHA-256 of the program's secret; the code that
 * the person confirms gives nothing to anyone but that program.
 *
 *   waiting ──a signed-in person──► confirmed ──the program, once──► (none)
 *      └────────────────────────► refused
 */
import { randomBytes, randomInt } from "node:crypto";
import type { Pool } from "pg";
import { digestOfSecret } from "../http/caller.ts";
import { Problem } from "../http/problem.ts";
import type { Expired } from "../http/sweep.ts";
import { siteOf } from "../rates/client-address.ts";
import { deviceLoginLimits } from "./limits.ts";

/** Consonants without those that look alike, so that no word appears (RFC 8628, section 6.1). */
const letters = "BCDFGHJKLMNPQRSTVWXZ";

/** The person who has confirmed, as the token of the program needs it. */
export type Confirmed = {
  /** The owner, as events record it. */
  readonly owner: string;
  /** The id of the token of the session that confirmed; empty for a person who signed in without one. */
  readonly token: string;
};

export type Waiting = {
  readonly code: string;
  readonly program: string;
  readonly address: string;
  readonly startedAtMs: number;
  readonly expiresAtMs: number;
};

const ms = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;

export class DeviceLogins {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Begins a sign-in. Throws a Problem of 429 if too many wait. */
  async start(program: string, address: string) {
    const secret = randomBytes(32).toString("base64url");
    const code = newCode();
    const { rows } = await this.#pool.query<{ expires: number }>(
      `with waiting as (
         select count(*) filter (where site = $5) as mine, count(*) as all_of
         from gateway.device_logins where expires_at > now())
       insert into gateway.device_logins (digest, code, program, address, site, expires_at)
       select $1, $2, $3, $4, $5, now() + make_interval(mins => $6) from waiting
       where mine < $7 and all_of < $8
       returning ${ms("expires_at")} as expires`,
      [
        ...[digestOfSecret(secret), code, program, address, siteOf(address)],
        deviceLoginLimits.minutes,
        ...[deviceLoginLimits.ofAddressMax, deviceLoginLimits.ofAllMax],
      ],
    );
    const expiresAtMs = rows[0]?.expires;
    if (expiresAtMs === undefined) {
      const detail = "too many sign-ins wait for a person; try again in some minutes";
      throw new Problem(429, "too_many_logins", detail, { retryAfterSeconds: 60 });
    }
    return { secret, code, expiresAtMs };
  }

  /**
   * Returns the person who has confirmed, and ends the sign-in. Throws a Problem of 400 with the code of RFC 8628 while
   * nobody has, after a refusal, and for a secret that is unknown, used or expired.
   */
  async finish(secret: string): Promise<Confirmed & { readonly program: string }> {
    const digest = digestOfSecret(secret);
    const { rows: done } = await this.#pool.query<Confirmed & { program: string }>(
      `delete from gateway.device_logins
       where digest = $1 and state = 'confirmed' and expires_at > now()
       returning owner, token, program`,
      [digest],
    );
    if (done[0] !== undefined) return done[0];
    const { rows } = await this.#pool.query<{ state: string; early: boolean }>(
      `with asked as (select digest, asked_at from gateway.device_logins where digest = $1)
       update gateway.device_logins d set asked_at = now() from asked
       where d.digest = asked.digest and expires_at > now()
       returning state, coalesce(
         asked.asked_at > now() - make_interval(secs => $2::float8), false) as early`,
      [digest, deviceLoginLimits.intervalSeconds / 2],
    );
    const [row] = rows;
    if (row === undefined) {
      const detail = "this sign-in has expired or was finished: begin another";
      throw new Problem(400, "expired_token", detail);
    }
    if (row.state === "refused") {
      throw new Problem(400, "access_denied", "the person refused this sign-in");
    }
    const wait = `ask every ${deviceLoginLimits.intervalSeconds} s`;
    if (row.early) throw new Problem(400, "slow_down", `you ask too often: ${wait}`);
    throw new Problem(400, "authorization_pending", `nobody has confirmed this sign-in: ${wait}`);
  }

  /** Returns the sign-in of a code that waits; undefined for none. */
  async find(code: string): Promise<Waiting | undefined> {
    const { rows } = await this.#pool.query<Waiting>(
      `select code, program, address, ${ms("started_at")} as "startedAtMs",
         ${ms("expires_at")} as "expiresAtMs"
       from gateway.device_logins
       where code = $1 and state = 'waiting' and expires_at > now()`,
      [normalized(code)],
    );
    return rows[0];
  }

  /** Confirms a sign-in, or refuses it for null. Returns false if none waits with the code. */
  async answer(code: string, person: Confirmed | null): Promise<boolean> {
    const { rowCount } = await this.#pool.query(
      `update gateway.device_logins set state = $2, owner = $3, token = $4
       where code = $1 and state = 'waiting' and expires_at > now()`,
      [
        normalized(code),
        person === null ? "refused" : "confirmed",
        person?.owner ?? "",
        person?.token ?? "",
      ],
    );
    return rowCount === 1;
  }
}

export const expiredDeviceLogins: Expired = {
  table: "gateway.device_logins",
  where: "expires_at < now()",
};

function newCode(): string {
  const four = () => Array.from({ length: 4 }, () => letters[randomInt(letters.length)]).join("");
  return `${four()}-${four()}`;
}

/** Returns a code as it is stored, from a text that a person has typed. */
function normalized(code: string): string {
  const typed = code.toUpperCase().replace(/[^A-Z]/g, "");
  return `${typed.slice(0, 4)}-${typed.slice(4)}`;
}
