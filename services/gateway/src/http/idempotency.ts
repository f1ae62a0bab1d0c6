/**
 * Idempotency-Key: for a day, the first answer to a key is returned to every repeat. A key belongs to its caller.
 * Another request with the same key is refused.
 *
 *   (none) ──claim──► under way ──answer──► answered ──a day──► (none)
 *                       │   ▲
 *      outcome unknown, │   │ claim by the same request: the same number
 *      or the process   ▼   │
 *      died           given up
 *
 * The row has a number that is drawn at the first use of the key; the commit id of the effect derives from it. If an
 * attempt died between its effect and its answer, or its outcome is unknown, the next attempt has the same commit id,
 * and the log recognises the effect. So a row is deleted only after its day, or when its only attempt was refused
 * without an effect. After that the key draws another number, and a request with it has a new effect.
 */
import { randomUUID } from "node:crypto";
import { deriveCommitId } from "@trainyard/event-log";
import { runtimeLimits } from "@trainyard/runtime";
import type { Pool } from "pg";
import { httpLimits } from "./limits.ts";
import { Problem } from "./problem.ts";
import type { Expired } from "./sweep.ts";

/** The time for which an attempt blocks its idempotency key after its gateway has died. A running one renews it. */
const idempotencyHeldMs = 6_000;

const ofClaim =
  "caller = $1 and key = $2 and number = $3 and attempts = $4 and status is null" as const;

export type Answer = { readonly status: number; readonly body: string };

export const idempotencyKeyPattern = /^[\x21-\x7e]{1,200}$/;

/** `caller` is the name of `countedAs`: a token, with its sessions, or a run. */
type Owner = { readonly caller: string; readonly key: string };

/** An attempt that has claimed its row. */
type Claim = Owner & { readonly number: string; readonly attempts: number };

export class IdempotencyStore {
  readonly #pool: Pool;
  readonly #heldMs: number;

  constructor(pool: Pool, heldMs: number = idempotencyHeldMs) {
    this.#pool = pool;
    this.#heldMs = heldMs;
  }

  /**
   * Returns the first answer to the key. Without one it runs `attempt`, with the commit id of the key. `digest` is that
   * of the whole request. Unless the answer is stored, a repeat runs another attempt with the same commit id, which
   * reports that the effect exists.
   */
  async once(
    owner: Owner,
    digest: string,
    attempt: (commitId: string) => Promise<Answer>,
    storesAnswer: boolean,
  ): Promise<Answer> {
    const claim = await this.#claim(owner, digest);
    if ("body" in claim) return claim;
    let answer: Answer;
    try {
      answer = await this.#holding(claim, () =>
        attempt(deriveCommitId("idempotency", claim.number)),
      );
    } catch (error) {
      await this.#giveUp(claim, isRefusal(error));
      throw error;
    }
    if (storesAnswer) await this.#keep(claim, answer);
    else await this.#giveUp(claim, false);
    return answer;
  }

  async #holding<Result>(
    { caller, key, number, attempts }: Claim,
    attempt: () => Promise<Result>,
  ): Promise<Result> {
    const text = `update gateway.idempotency
      set held_until = now() + make_interval(secs => $5 / 1000.0) where ${ofClaim}`;
    const values = [caller, key, number, attempts, this.#heldMs];
    let renewal: Promise<unknown> = Promise.resolve();
    const renew = (): void => void (renewal = this.#pool.query(text, values).catch(() => {}));
    const renewing = setInterval(renew, this.#heldMs / 3);
    try {
      return await attempt();
    } finally {
      clearInterval(renewing);
      await renewal;
    }
  }

  async #claim(owner: Owner, digest: string): Promise<Answer | Claim> {
    const { caller, key } = owner;
    const { idempotencyHours: hours } = httpLimits;
    const { rows } = await this.#pool.query<{ number: string; attempts: number }>(
      `insert into gateway.idempotency as kept (caller, key, request_digest, number, held_until)
       values ($1, $2, $3, $4, now() + make_interval(secs => $6 / 1000.0))
       on conflict (caller, key) do update
         set (request_digest, number, attempts, created_at, held_until, status, answer) = (
           select excluded.request_digest,
             case when over then excluded.number else kept.number end,
             case when over then 1 else kept.attempts + 1 end,
             case when over then now() else kept.created_at end,
             excluded.held_until, null::int, null::text
           from (select kept.created_at < now() - make_interval(hours => $5) as over) as age)
         where (kept.status is not null or kept.held_until < now())
           and (kept.created_at < now() - make_interval(hours => $5)
             or (kept.status is null and kept.request_digest = $3))
       returning number, attempts`,
      [caller, key, digest, randomUUID(), hours, this.#heldMs],
    );
    const claimed = rows[0];
    return claimed === undefined ? this.#answered(owner, digest) : { ...owner, ...claimed };
  }

  async #answered({ caller, key }: Owner, digest: string): Promise<Answer> {
    const { rows } = await this.#pool.query<{
      request_digest: string;
      status: number | null;
      answer: string | null;
    }>(
      "select request_digest, status, answer from gateway.idempotency where caller = $1 and key = $2",
      [caller, key],
    );
    const row = rows[0];
    if (row !== undefined && row.request_digest !== digest) {
      throw new Problem(
        422,
        "idempotency_key_reused",
        "this Idempotency-Key was used for another request",
      );
    }
    if (row?.status == null || row.answer === null) {
      throw new Problem(
        409,
        "in_progress",
        "the first request with this Idempotency-Key is still in progress",
        { retryAfterSeconds: runtimeLimits.retryAfterSeconds },
      );
    }
    return { status: row.status, body: row.answer };
  }

  /** Stores the answer of an attempt. All attempts with one number have one effect, so it may be of any of them. */
  async #keep({ caller, key, number }: Claim, { status, body }: Answer): Promise<void> {
    await this.#pool.query(
      `update gateway.idempotency set status = $4, answer = $5
       where caller = $1 and key = $2 and number = $3`,
      [caller, key, number, status, body],
    );
  }

  /**
   * Ends an attempt without an answer. A refusal releases the key, unless an earlier attempt may have had an effect.
   * Otherwise the next attempt may follow at once.
   */
  async #giveUp({ caller, key, number, attempts }: Claim, refused: boolean): Promise<void> {
    const text =
      refused && attempts === 1
        ? `delete from gateway.idempotency where ${ofClaim}`
        : `update gateway.idempotency set held_until = now() where ${ofClaim}`;
    await this.#pool.query(text, [caller, key, number, attempts]);
  }
}

/** The keys that are older than a day, except those of running attempts. */
export const expiredKeys: Expired = {
  table: "gateway.idempotency",
  where: `created_at < now() - interval '${httpLimits.idempotencyHours} hours'
    and (status is not null or held_until < now())`,
};

/** Whether the request certainly had no effect. After any other error it may have had one. */
function isRefusal(error: unknown): boolean {
  return error instanceof Problem && error.status < 500 && error.status !== 429;
}
