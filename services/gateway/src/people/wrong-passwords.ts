/**
 * Slows down guessing of passwords, in rows that all gateways share. Counted are wrong passwords of an account from an
 * address, of the account, and of the address. A try counts as wrong before it is checked, so that tries at once do not
 * pass the limit together; a right password takes its own count back.
 *
 *   wait after n wrong ones = 2^(n - free) seconds, up to 15 minutes; every 15 minutes one is forgotten.
 *
 * The account's count slows only addresses that were wrong about this account themselves: guessing from elsewhere locks
 * nobody out. It is not a defence against an attacker with an address for every guess.
 */
import { createHash } from "node:crypto";
import type { Pool } from "pg";
import { Problem } from "../http/problem.ts";
import type { Expired } from "../http/sweep.ts";
import { siteOf } from "../rates/client-address.ts";
import { peopleLimits } from "./limits.ts";

const {
  wrongOfBothFree: ofBothFree,
  wrongOfOneFree: ofOneFree,
  wrongWaitSecondsMax: waitMax,
  wrongForgottenSeconds: forgotten,
} = peopleLimits;

/** SQL for the failures that are not forgotten, and for the seconds of waiting after the last of them. */
const left = `greatest(0, kept.failures - floor(extract(epoch from now() - kept.last_at) / ${forgotten}))::int`;
const wait = (free: number): string =>
  `least(${waitMax}, power(2, least(kept.failures - ${free}, 20)))`;
const mayTry = (free: number): string =>
  `(kept.failures < ${free} or kept.last_at + make_interval(secs => ${wait(free)}) <= now())`;

const counted = (free: number): string => `on conflict (counted) do update
  set failures = ${left} + 1, last_at = now() where ${mayTry(free)}`;

type Counted = { readonly both: Buffer; readonly account: Buffer; readonly site: Buffer };

export class WrongPasswords {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Counts a try as wrong. Throws a Problem of 429 if the account or the address has to wait. */
  async count(nameKey: string, address: string): Promise<void> {
    const { both, account, site } = keysOf(nameKey, address);
    const { rowCount } = await this.#pool.query(
      `with pair as (
         insert into gateway.wrong_passwords as kept (counted, failures) values ($1, 1)
         ${counted(ofBothFree)} returning failures)
       insert into gateway.wrong_passwords as kept (counted, failures)
       select alone, 1 from unnest(array[$2, $3]::bytea[]) as alone, pair order by alone
       ${counted(ofOneFree)} or (kept.counted = $2 and (select failures from pair) = 1)
       returning counted`,
      [both, account, site],
    );
    if (rowCount !== 2) throw await this.#refusal({ both, account, site });
  }

  /** Takes back the count of a try with the right password, and forgets those before it from this address. */
  async forget(nameKey: string, address: string): Promise<void> {
    const { both, account, site } = keysOf(nameKey, address);
    await this.#pool.query(
      `with pair as (delete from gateway.wrong_passwords where counted = $1)
       update gateway.wrong_passwords set failures = greatest(0, failures - 1)
       where counted = any(array[$2, $3]::bytea[])`,
      [both, account, site],
    );
  }

  async #refusal({ both, account, site }: Counted): Promise<Problem> {
    const { rows } = await this.#pool.query<{ seconds: number }>(
      `select ceil(max(extract(epoch from kept.last_at - now())
         + case when kept.counted = $1 then ${wait(ofBothFree)} else ${wait(ofOneFree)} end))::int as seconds
       from gateway.wrong_passwords kept
       where kept.counted = any(array[$1, $2, $3]::bytea[])
         and not case when kept.counted = $1 then ${mayTry(ofBothFree)} else ${mayTry(ofOneFree)} end`,
      [both, account, site],
    );
    const retryAfterSeconds = Math.max(1, rows[0]?.seconds ?? 1);
    const detail = `too many wrong passwords; try again in ${retryAfterSeconds} s`;
    return new Problem(429, "too_many_passwords", detail, { retryAfterSeconds });
  }
}

/** Rows whose failures are all forgotten. */
export const expiredWrongPasswords: Expired = {
  table: "gateway.wrong_passwords",
  where: `last_at < now() - make_interval(secs => failures * ${forgotten})`,
};

/** Returns what is counted, as digests: no row has a name or an address. */
function keysOf(nameKey: string, address: string): Counted {
  const site = siteOf(address);
  const digest = (...parts: readonly string[]): Buffer =>
    createHash("sha256").update(JSON.stringify(parts)).digest();
  return {
    both: digest("both", nameKey, site),
    account: digest("account", nameKey),
    site: digest("address", site),
  };
}
