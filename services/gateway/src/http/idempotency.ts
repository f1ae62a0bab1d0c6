/**
 * Idempotency-Key: the first answer to a key is every answer to it, for a day. The key belongs to its caller; another
 * request under the same key is refused. An attempt that died between its effect and its answer is made again: its
 * commit id derives from caller and key, so that the log recognises the effect.
 */
import { createHash } from "node:crypto";
import type { Pool } from "pg";
import { gatewayLimits } from "../limits.ts";
import { Problem } from "./problem.ts";

export type Answer = { readonly status: number; readonly body: string };

export const idempotencyKeyPattern = /^[\x21-\x7e]{1,200}$/;

export class IdempotencyStore {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** The first answer, or that of `attempt` when this is the first. */
  async once(
    authid: string,
    key: string,
    request: { readonly method: string; readonly url: string; readonly body: Buffer | string },
    attempt: () => Promise<Answer>,
  ): Promise<Answer> {
    const digest = createHash("sha256")
      .update(`${request.method}\n${request.url}\n`)
      .update(request.body)
      .digest("hex");
    const first = await this.#claim(authid, key, digest);
    if (first !== null) return first;
    let answer: Answer;
    try {
      answer = await attempt();
    } catch (error) {
      await this.#giveUp(authid, key);
      throw error;
    }
    // An answer that asks to come again is no answer yet.
    if (answer.status >= 500 || answer.status === 429) await this.#giveUp(authid, key);
    else await this.#keep(authid, key, answer);
    return answer;
  }

  async #claim(authid: string, key: string, digest: string): Promise<Answer | null> {
    const { hours, heldMs } = {
      hours: gatewayLimits.idempotencyHours,
      heldMs: gatewayLimits.idempotencyHeldMs,
    };
    const claimed = await this.#pool.query(
      `insert into gateway.idempotency (authid, key, request_digest) values ($1, $2, $3)
       on conflict (authid, key) do update
         set request_digest = excluded.request_digest, status = null, answer = null, created_at = now()
         where gateway.idempotency.created_at < now() - make_interval(hours => $4)
            or (gateway.idempotency.status is null and gateway.idempotency.request_digest = $3
                and gateway.idempotency.created_at < now() - make_interval(secs => $5 / 1000.0))
       returning key`,
      [authid, key, digest, hours, heldMs],
    );
    if (claimed.rowCount === 1) return null;
    const { rows } = await this.#pool.query<{
      request_digest: string;
      status: number | null;
      answer: string | null;
    }>(
      "select request_digest, status, answer from gateway.idempotency where authid = $1 and key = $2",
      [authid, key],
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
        "the first request with this Idempotency-Key is still under way",
        {
          retryAfterSeconds: gatewayLimits.retryAfterSeconds,
        },
      );
    }
    return { status: row.status, body: row.answer };
  }

  async #keep(authid: string, key: string, { status, body }: Answer): Promise<void> {
    await this.#pool.query(
      "update gateway.idempotency set status = $3, answer = $4 where authid = $1 and key = $2",
      [authid, key, status, body],
    );
  }

  async #giveUp(authid: string, key: string): Promise<void> {
    await this.#pool.query(
      "delete from gateway.idempotency where authid = $1 and key = $2 and status is null",
      [authid, key],
    );
  }

  /** Forgets what is older than a day; called now and then. */
  async sweep(): Promise<void> {
    await this.#pool.query(
      "delete from gateway.idempotency where created_at < now() - make_interval(hours => $1)",
      [gatewayLimits.idempotencyHours],
    );
  }
}
