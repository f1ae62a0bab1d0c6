/** The rows of deliveries: what waits for its next attempt, and what was sent and answered in the last week. */
import type { LeavingEvent } from "@trainyard/outbound";
import { inTransaction, tableFault } from "@trainyard/runtime";
import type { Pool, QueryResultRow } from "pg";
import { feedsLimits } from "../../limits.ts";

export type DeliveryState = "WAITING" | "DELIVERED" | "FAILED";

export const deliveryStates: readonly string[] = [
  "WAITING",
  "DELIVERED",
  "FAILED",
] satisfies readonly DeliveryState[];

/** An event that a webhook receives. */
export type Delivery = {
  readonly event: string;
  readonly position: number;
  readonly type: string;
  readonly subject: string;
  readonly state: DeliveryState;
  readonly failures: number;
  /** The time of the next attempt while it waits, otherwise of the last one. */
  readonly atMs: number;
};

export type Attempt = {
  readonly atMs: number;
  readonly tookMs: number;
  readonly status: number | null;
  readonly error: string;
  readonly answer: string;
  readonly request: string;
};

/** The place in a list of deliveries, from the newest event to the oldest. */
export type DeliveryPlace = Pick<Delivery, "position" | "event">;

type Row = {
  readonly event: string;
  readonly position: string;
  readonly type: string;
  readonly subject: string;
  readonly state: DeliveryState;
  readonly failures: number;
  readonly at_ms: number;
};

type AttemptRow = {
  readonly event: string;
  readonly at_ms: number;
  readonly took_ms: number;
  readonly status: number | null;
  readonly error: string;
  readonly answer: string;
  readonly request: string;
};

const columns = "event, position, type, subject, state, failures, at_ms";

export class DeliveryTable {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Inserts the events that the webhook does not have yet, in one transaction. Nothing if the webhook is gone. */
  async insert(webhook: string, events: readonly LeavingEvent[], atMs: number): Promise<void> {
    const stored = events.map((event) => event.stored);
    await guarded(() =>
      inTransaction(this.#pool, async (client) => {
        // The lock makes a removal wait, which then also finds these rows.
        const kept = "select 1 from feeds.webhooks where name = $1 for key share";
        if ((await client.query(kept, [webhook])).rowCount === 0) return;
        await client.query(
          `insert into feeds.deliveries (webhook, event, position, type, subject, state, at_ms)
           select $1, event, position, type, subject, 'WAITING', $2
           from unnest($3::text[], $4::bigint[], $5::text[], $6::text[]) as arrived (event, position, type, subject)
           on conflict do nothing`,
          [
            webhook,
            atMs,
            stored.map(({ id }) => id),
            stored.map(({ position }) => position),
            stored.map(({ type }) => type),
            stored.map(({ stream }) => stream),
          ],
        );
      }),
    );
  }

  /** Returns the number of waiting deliveries; at most `most`. */
  async waiting(webhook: string, most: number): Promise<number> {
    return (await this.waitingOf([webhook], most)).get(webhook) ?? 0;
  }

  async waitingOf(webhooks: readonly string[], most: number): Promise<ReadonlyMap<string, number>> {
    type Counted = { readonly webhook: string; readonly waiting: number };
    const rows = await this.#query<Counted>(
      `select webhook, (
         select count(*)::integer from (
           select 1 from feeds.deliveries as one where one.webhook = named.webhook and state = 'WAITING' limit $2
         ) as first
       ) as waiting from unnest($1::text[]) as named (webhook)`,
      [webhooks, most],
    );
    return new Map(rows.map(({ webhook, waiting }) => [webhook, waiting]));
  }

  /** Returns the waiting deliveries with the earliest attempts, except those that are being sent. */
  async next(webhook: string, except: readonly string[], most: number): Promise<Delivery[]> {
    const rows = await this.#query<Row>(
      `select ${columns} from feeds.deliveries
       where webhook = $1 and state = 'WAITING' and event <> all($2) order by at_ms, position limit $3`,
      [webhook, except, most],
    );
    return rows.map(shown);
  }

  async find(webhook: string, event: string): Promise<Delivery | undefined> {
    const text = `select ${columns} from feeds.deliveries where webhook = $1 and event = $2`;
    const [row] = await this.#query<Row>(text, [webhook, event]);
    return row === undefined ? undefined : shown(row);
  }

  /** Records an attempt and what follows from it: the delivery's state and time. May be repeated. */
  async record(
    webhook: string,
    event: string,
    attempt: Attempt,
    then: Pick<Delivery, "state" | "failures" | "atMs">,
  ): Promise<void> {
    const { atMs, tookMs, status, error, answer, request } = attempt;
    await this.#query(
      `with delivery as (
         update feeds.deliveries set state = $3, at_ms = $4, failures = $5
         where webhook = $1 and event = $2 returning 1
       )
       insert into feeds.attempts (webhook, event, at_ms, took_ms, status, error, answer, request)
       select $1, $2, $6, $7, $8, $9, $10, $11 from delivery
       on conflict do nothing`,
      [
        ...[webhook, event, then.state, then.atMs, then.failures],
        ...[atMs, tookMs, status, error, answer, request],
      ],
    );
  }

  /** Lets a delivery begin again at once. Returns whether the webhook has it. */
  async again(webhook: string, event: string, atMs: number): Promise<boolean> {
    const rows = await this.#query(
      `update feeds.deliveries set state = 'WAITING', failures = 0, at_ms = $3
       where webhook = $1 and event = $2 returning 1`,
      [webhook, event, atMs],
    );
    return rows.length > 0;
  }

  /** Returns deliveries after a place, the newest event first; `state` is empty for all. */
  async list(
    webhook: string,
    state: string,
    after: DeliveryPlace | undefined,
    most: number,
  ): Promise<Delivery[]> {
    const { position, event } = after ?? { position: Number.MAX_SAFE_INTEGER, event: "" };
    const rows = await this.#query<Row>(
      `select ${columns} from feeds.deliveries
       where webhook = $1 and ($2 = '' or state = $2) and position <= $3 and (position < $3 or event > $4)
       order by position desc, event limit $5`,
      [webhook, state, position, event, most],
    );
    return rows.map(shown);
  }

  /** Returns the attempts of each event, the latest first. */
  async attempts(
    webhook: string,
    events: readonly string[],
  ): Promise<ReadonlyMap<string, readonly Attempt[]>> {
    const rows = await this.#query<AttemptRow>(
      `select event, at_ms, took_ms, status, error, answer, request from feeds.attempts
       where webhook = $1 and event = any($2) order by at_ms desc`,
      [webhook, events],
    );
    return Map.groupBy(rows.map(shownAttempt), ({ event }) => event);
  }

  /** Deletes some deliveries that ended before a time. Returns whether there may be more. */
  async purgeEnded(beforeMs: number): Promise<boolean> {
    const chosen = `select webhook, event from feeds.deliveries
      where state <> 'WAITING' and at_ms < $1 order by at_ms limit $2`;
    return this.#purge(chosen, beforeMs);
  }

  /** Deletes some deliveries of a webhook that is gone. Returns whether there may be more. */
  async purgeOf(webhook: string): Promise<boolean> {
    return this.#purge(
      "select webhook, event from feeds.deliveries where webhook = $1 limit $2",
      webhook,
    );
  }

  async #purge(chosen: string, of: string | number): Promise<boolean> {
    const { deliveriesPerPurge: most } = feedsLimits;
    type Purged = { readonly purged: number };
    const [row] = await this.#query<Purged>(
      `with chosen as (${chosen}), lost as (
         delete from feeds.attempts using chosen
         where attempts.webhook = chosen.webhook and attempts.event = chosen.event
       ), gone as (
         delete from feeds.deliveries using chosen
         where deliveries.webhook = chosen.webhook and deliveries.event = chosen.event returning 1
       ) select count(*)::integer as purged from gone`,
      [of, most],
    );
    return row?.purged === most;
  }

  #query<Found extends QueryResultRow>(
    text: string,
    values: readonly unknown[],
  ): Promise<readonly Found[]> {
    return guarded(async () => (await this.#pool.query<Found>(text, [...values])).rows);
  }
}

async function guarded<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (cause) {
    throw tableFault(cause, "deliveries_unavailable", "the table of deliveries");
  }
}

function shown(row: Row): Delivery {
  const { event, position, type, subject, state, failures, at_ms: atMs } = row;
  return { event, position: Number(position), type, subject, state, failures, atMs };
}

function shownAttempt(row: AttemptRow): Attempt & { readonly event: string } {
  const { event, at_ms: atMs, took_ms: tookMs, status, error, answer, request } = row;
  return { event, atMs, tookMs, status, error, answer, request };
}
