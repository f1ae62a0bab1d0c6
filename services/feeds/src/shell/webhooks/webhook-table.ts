/** The rows of webhooks: where each is sent, and what it signs with. */
import { tableFault } from "@trainyard/runtime";
import type { Pool, QueryResultRow } from "pg";
import type { Failing } from "../../core/deliveries/outcome.ts";

export type WebhookRow = {
  readonly name: string;
  readonly format: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly secret: string;
  readonly oldSecret: string | null;
  readonly oldUntilMs: number | null;
  readonly rotation: string;
  readonly failing: Failing | null;
};

type Row = {
  readonly name: string;
  readonly format: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly secret: string;
  readonly old_secret: string | null;
  readonly old_until_ms: number | null;
  readonly rotation: string;
  readonly failing_since_ms: number | null;
  readonly failed_ms: number | null;
};

export type NewWebhook = Pick<WebhookRow, "name" | "format" | "url" | "headers" | "secret"> & {
  readonly life: string;
};

const columns = `name, format, url, headers, secret, old_secret, old_until_ms, rotation, failing_since_ms, failed_ms`;

export class WebhookTable {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async find(name: string): Promise<WebhookRow | undefined> {
    const [row] = await this.#query<Row>(`select ${columns} from feeds.webhooks where name = $1`, [
      name,
    ]);
    return row === undefined ? undefined : shown(row);
  }

  /** Returns the identity of the subscription that a row belongs to; undefined without a row. */
  async lifeOf(name: string): Promise<string | undefined> {
    type Found = { readonly life: string };
    const text = "select life from feeds.webhooks where name = $1";
    return (await this.#query<Found>(text, [name]))[0]?.life;
  }

  async all(names: readonly string[]): Promise<readonly WebhookRow[]> {
    const text = `select ${columns} from feeds.webhooks where name = any($1)`;
    return (await this.#query<Row>(text, [names])).map(shown);
  }

  /**
   * Stores a new webhook and returns its secret. A repeat with the same life returns the stored secret; the row of
   * another life is of a subscription that is gone or was never recorded, and is replaced.
   */
  async put(webhook: NewWebhook): Promise<string> {
    const { name, life, format, url, headers, secret } = webhook;
    const [row] = await this.#query<{ readonly secret: string }>(
      `insert into feeds.webhooks as kept (name, life, format, url, headers, secret)
       values ($1, $2, $3, $4, $5, $6)
       on conflict (name) do update set life = excluded.life, format = excluded.format, url = excluded.url,
         headers = excluded.headers, old_secret = null, old_until_ms = null, rotation = '',
         failing_since_ms = null, failed_ms = null,
         secret = case when kept.life = excluded.life then kept.secret else excluded.secret end
       returning secret`,
      [name, life, format, url, JSON.stringify(headers), secret],
    );
    return row?.secret ?? secret;
  }

  async change(name: string, to: Pick<WebhookRow, "format" | "url" | "headers">): Promise<void> {
    await this.#query(
      "update feeds.webhooks set format = $2, url = $3, headers = $4 where name = $1",
      [name, to.format, to.url, JSON.stringify(to.headers)],
    );
  }

  /** Replaces the secret; the present one is old from now on. */
  async rotate(
    name: string,
    to: { readonly secret: string; readonly oldUntilMs: number; readonly rotation: string },
  ): Promise<void> {
    await this.#query(
      `update feeds.webhooks set old_secret = secret, old_until_ms = $3, secret = $2, rotation = $4
       where name = $1 and rotation <> $4`,
      [name, to.secret, to.oldUntilMs, to.rotation],
    );
  }

  async setFailing(name: string, failing: Failing | null): Promise<void> {
    await this.#query(
      "update feeds.webhooks set failing_since_ms = $2, failed_ms = $3 where name = $1",
      [name, failing?.sinceMs ?? null, failing?.lastMs ?? null],
    );
  }

  async remove(name: string): Promise<void> {
    await this.#query("delete from feeds.webhooks where name = $1", [name]);
  }

  async #query<Found extends QueryResultRow>(
    text: string,
    values: readonly unknown[],
  ): Promise<readonly Found[]> {
    try {
      return (await this.#pool.query<Found>(text, [...values])).rows;
    } catch (cause) {
      throw tableFault(cause, "webhooks_unavailable", "the table of webhooks");
    }
  }
}

function shown(row: Row): WebhookRow {
  const { name, format, url, headers, secret, rotation } = row;
  const { failing_since_ms: sinceMs, failed_ms: lastMs } = row;
  const failing = sinceMs === null || lastMs === null ? null : { sinceMs, lastMs };
  return {
    ...{ name, format, url, headers, secret, rotation, failing },
    oldSecret: row.old_secret,
    oldUntilMs: row.old_until_ms,
  };
}
