/**
 * How far each subscription has come, and its last failure, in a table. Places are written together, a few times a
 * second, and only move forward: a place that was not stored comes again.
 */
import { type Clock, pause } from "@trainyard/kernel";
import { type EventPlace, logBeginning } from "@trainyard/outbound";
import { EffectLoop, type Logger } from "@trainyard/runtime";
import type { Pool } from "pg";
import { feedsLimits } from "../../limits.ts";

export type ProgressRow = {
  readonly name: string;
  readonly life: number;
  readonly position: number;
  readonly event: string;
  readonly acknowledgedAtMs: number | null;
  readonly lastError: string;
  readonly lastErrorAtMs: number | null;
};

type Named = { readonly name: string; readonly life: number };

export class Progress {
  readonly loop: EffectLoop;
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #places = new Map<string, Named & EventPlace>();
  readonly #errors = new Map<string, Named & { readonly sentence: string }>();

  constructor(pool: Pool, clock: Clock, logger: Logger) {
    this.#pool = pool;
    this.#clock = clock;
    this.loop = new EffectLoop("progress", { clock, logger }, async (signal) => {
      // Places that settle meanwhile are written together.
      await pause(clock, feedsLimits.progressMs, signal);
      await this.flush();
      return null;
    });
  }

  /** Stores the place soon. */
  settled({ name, life }: Named, place: EventPlace): void {
    this.#places.set(name, { name, life, ...place });
    this.loop.wake();
  }

  /** Stores the sentence as the last error soon; null clears it. */
  failed({ name, life }: Named, sentence: string | null): void {
    this.#errors.set(name, {
      name,
      life,
      sentence: (sentence ?? "").slice(0, feedsLimits.errorCharactersMax),
    });
    this.loop.wake();
  }

  async flush(): Promise<void> {
    const places = [...this.#places.values()];
    const errors = [...this.#errors.values()];
    if (places.length > 0) await this.#store(places);
    for (const one of places) {
      if (this.#places.get(one.name) === one) this.#places.delete(one.name);
    }
    for (const one of errors) {
      await this.#writeError(one);
      if (this.#errors.get(one.name) === one) this.#errors.delete(one.name);
    }
  }

  /** Stores a place at once, unless a later one is stored. Returns the stored one. */
  async acknowledge(named: Named, place: EventPlace): Promise<EventPlace> {
    const [stored] = await this.#store([{ name: named.name, life: named.life, ...place }]);
    return stored ?? logBeginning;
  }

  async #store(places: readonly (Named & EventPlace)[]): Promise<readonly EventPlace[]> {
    const { rows } = await this.#pool.query<EventPlace>(
      `insert into feeds.progress as p (name, life, position, event, acknowledged_at_ms)
       select *, $5::float8 from unnest($1::text[], $2::float8[], $3::float8[], $4::text[])
       on conflict (name) do update set
         position = case when p.life <> excluded.life then excluded.position
                         else greatest(p.position, excluded.position) end,
         event = case when p.life = excluded.life and p.position > excluded.position then p.event
                      else excluded.event end,
         acknowledged_at_ms = excluded.acknowledged_at_ms,
         last_error = case when p.life = excluded.life then p.last_error else '' end,
         life = excluded.life
       -- A place that settled late may be of an earlier subscription of the name.
       where p.life <= excluded.life
       returning position, event`,
      [
        places.map(({ name }) => name),
        places.map(({ life }) => life),
        places.map(({ position }) => position),
        places.map(({ event }) => event),
        this.#clock.nowMs(),
      ],
    );
    return rows;
  }

  async #writeError({ name, life, sentence }: Named & { readonly sentence: string }) {
    await this.#pool.query(
      `update feeds.progress
       set last_error = $3, last_error_at_ms = case when $3 = '' then null else $4::float8 end
       where name = $1 and life = $2`,
      [name, life, sentence, this.#clock.nowMs()],
    );
  }

  /** Begins the row of a subscription, so that errors can be stored before the first place. */
  async begin({ name, life }: Named, from: EventPlace): Promise<void> {
    await this.#pool.query(
      `insert into feeds.progress as p (name, life, position, event) values ($1, $2, $3, $4)
       on conflict (name) do update set life = $2, position = $3, event = $4,
         acknowledged_at_ms = null, last_error = '', last_error_at_ms = null
       where p.life <> $2`,
      [name, life, from.position, from.event],
    );
  }

  async rows(names: readonly string[]): Promise<ReadonlyMap<string, ProgressRow>> {
    const { rows } = await this.#pool.query<ProgressRow>(
      `select name, life, position, event, acknowledged_at_ms as "acknowledgedAtMs",
              last_error as "lastError", last_error_at_ms as "lastErrorAtMs"
       from feeds.progress where name = any($1)`,
      [names],
    );
    return new Map(rows.map((row) => [row.name, row]));
  }

  /** Returns the names that have a row and are no subscription of the view. */
  async strays(): Promise<readonly string[]> {
    const { rows } = await this.#pool.query<{ name: string }>(
      `select name from feeds.progress p
       where life > 0 and not exists (select from feeds.subscriptions s where s.name = p.name)`,
    );
    return rows.map(({ name }) => name);
  }

  async forget(name: string): Promise<void> {
    await this.#pool.query("delete from feeds.progress where name = $1", [name]);
  }
}
