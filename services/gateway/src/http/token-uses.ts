/**
 * The last uses of tokens, to the minute. A call only notes its token in memory; the notes are written together every
 * few seconds. Each gateway writes a token at most once a minute, and loses the notes of its last seconds if it dies.
 */
import { type Clock, pause } from "@trainyard/kernel";
import type { Logger } from "@trainyard/runtime";
import { LRUCache } from "lru-cache";
import type { Pool } from "pg";
import { httpLimits } from "./limits.ts";

const minuteMs = 60_000;

export type TokenUsesDeps = {
  readonly pool: Pick<Pool, "query">;
  readonly clock: Clock;
  readonly logger: Logger;
};

export class TokenUses {
  readonly #deps: TokenUsesDeps;
  /** The tokens to write, with the minute of their last use. */
  #noted = new Map<string, number>();
  /** The last minutes that were noted. */
  readonly #minutes = new LRUCache<string, number>({ max: httpLimits.tokenUsesMax });

  constructor(deps: TokenUsesDeps) {
    this.#deps = deps;
  }

  /** Notes that a call was made with the token. */
  note(token: string): void {
    const minute = Math.floor(this.#deps.clock.nowMs() / minuteMs) * minuteMs;
    if (this.#minutes.get(token) === minute) return;
    this.#minutes.set(token, minute);
    if (this.#noted.size < httpLimits.tokenUsesMax) this.#noted.set(token, minute);
  }

  /** Writes the notes at intervals until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#deps;
    while (!signal.aborted) {
      await pause(clock, httpLimits.tokenUsesMs, signal);
      await this.write().catch((error: unknown) =>
        logger.warn({ err: error }, "token_uses_unwritten"),
      );
    }
  }

  async write(): Promise<void> {
    const noted = this.#noted;
    if (noted.size === 0) return;
    this.#noted = new Map();
    await this.#deps.pool.query(
      `insert into gateway.token_uses as u (token, used_at)
       select token, to_timestamp(ms / 1000) from unnest($1::text[], $2::float8[]) as noted (token, ms)
       order by token
       on conflict (token) do update set used_at = excluded.used_at
       where u.used_at < excluded.used_at`,
      [[...noted.keys()], [...noted.values()]],
    );
  }
}
