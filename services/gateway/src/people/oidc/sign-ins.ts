/**
 * Sign-ins by identity providers that have begun. Each is bound to the browser by a cookie, and is taken once.
 *
 *   begun ──callback, once──► (none)                          a sign-in
 *   begun ──callback──► to confirm ──its person, once──► (none)   an identity that joins a user
 */
import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { digestOfSecret } from "../../http/caller.ts";
import { Problem } from "../../http/problem.ts";
import type { Expired } from "../../http/sweep.ts";
import { siteOf } from "../../rates/client-address.ts";
import { oidcLimits } from "./limits.ts";

export type SignIn = {
  readonly provider: string;
  readonly nonce: string;
  readonly verifier: string;
  /** The page that the visitor wanted: a path of this origin. */
  readonly page: string;
  /** The session whose person joins the identity; null for a sign-in. */
  readonly joining: { readonly session: string; readonly user: string } | null;
  /** The identity that its person has to confirm; null before. */
  readonly identity: { readonly issuer: string; readonly subject: string } | null;
};

/** The secrets of a sign-in: the state, and the cookie of its browser. */
export type Keys = { readonly state: string; readonly browser: string };

export const newSecret = (): string => randomBytes(32).toString("base64url");

export class SignIns {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Stores a sign-in. Throws a Problem of 429 if too many of its address have begun. */
  async begin({ state, browser }: Keys, signIn: SignIn, address: string): Promise<void> {
    const { rowCount } = await this.#pool.query(
      `insert into gateway.oidc_sign_ins (digest, browser, address, sign_in, expires_at)
       select $1, $2, $3, $4, now() + make_interval(mins => $5)
       where (select count(*) from gateway.oidc_sign_ins
         where address = $3 and expires_at > now()) < $6`,
      [
        ...[digestOfSecret(state), digestOfSecret(browser), siteOf(address)],
        ...[JSON.stringify(signIn), oidcLimits.minutes, oidcLimits.ofAddressMax],
      ],
    );
    if (rowCount === 1) return;
    const detail = "too many sign-ins of this address have begun; try again in some minutes";
    throw new Problem(429, "too_many_logins", detail, { retryAfterSeconds: 60 });
  }

  /** Ends a sign-in of a browser and returns it, once. Throws a Problem of 400 for any other. */
  async take({ state, browser }: Keys): Promise<SignIn> {
    const { rows } = await this.#pool.query<{ signIn: SignIn }>(
      `delete from gateway.oidc_sign_ins
       where digest = $1 and browser = $2 and expires_at > now() returning sign_in as "signIn"`,
      [digestOfSecret(state), digestOfSecret(browser)],
    );
    if (rows[0] !== undefined) return rows[0].signIn;
    const detail = `this sign-in was finished, is older than ${oidcLimits.minutes} minutes, or began in another browser: begin again`;
    throw new Problem(400, "sign_in_expired", detail);
  }
}

export const expiredSignIns: Expired = {
  table: "gateway.oidc_sign_ins",
  where: "expires_at < now()",
};
