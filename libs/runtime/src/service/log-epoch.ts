import type { Clock } from "@trainyard/kernel";
import type { Pool } from "pg";
import { databaseEpoch } from "./database-epoch.ts";

/** The time for which an answer counts, so that a stream of events asks the database once a second. */
const epochKnownMs = 1_000;

/** Reads which history of the database is the present one, for events that leave. */
export class LogEpoch {
  readonly #pool: Pool;
  readonly #clock: Clock;
  #epoch = "";
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(pool: Pool, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
  }

  async current(): Promise<string> {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#untilMs) return this.#epoch;
    const { rows } = await this.#pool.query<{ epoch: string }>(`select ${databaseEpoch} as epoch`);
    this.#epoch = rows[0]?.epoch ?? "";
    this.#untilMs = nowMs + epochKnownMs;
    return this.#epoch;
  }
}
