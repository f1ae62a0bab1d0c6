/**
 * Subscriptions over NATS: each has a user of its own, which may receive its events and answer them, and nothing else.
 * The embedded cluster adds the users to its server from a file; other operators add what the creation returned.
 */
import { randomBytes } from "node:crypto";
import { rename, writeFile } from "node:fs/promises";
import type { Bus } from "@trainyard/bus";
import type { Clock } from "@trainyard/kernel";
import type { Pool } from "pg";
import type { DeliveryRoom } from "../subscriptions/delivery-room.ts";
import { openNatsSink } from "./nats-sink.ts";

type Deps = {
  readonly pool: Pool;
  readonly bus: Bus;
  readonly clock: Clock;
  /** The file with the users, for the supervisor of an embedded cluster; null without one. */
  readonly usersFile: string | null;
};

export class NatsRoom implements DeliveryRoom {
  readonly open: DeliveryRoom["open"];
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.open = openNatsSink(deps);
  }

  async prepare({ name }: { readonly name: string }, life: string) {
    const password = randomBytes(24).toString("base64url");
    const { rows } = await this.#deps.pool.query<{ password: string }>(
      `insert into feeds.nats_users as u (subscription, life, password) values ($1, $2, $3)
       on conflict (subscription) do update set
         password = case when u.life = $2 then u.password else $3 end, life = $2
       returning password`,
      [name, life, password],
    );
    await this.writeUsers();
    return { secret: rows[0]?.password ?? password };
  }

  async change(): Promise<undefined> {
    return undefined;
  }

  async remove(name: string): Promise<void> {
    const { rowCount } = await this.#deps.pool.query(
      "delete from feeds.nats_users where subscription = $1",
      [name],
    );
    if (rowCount !== 0) await this.writeUsers();
  }

  async facts(): Promise<ReadonlyMap<string, object>> {
    return new Map();
  }

  /** Writes the file of users as it should be. */
  async writeUsers(): Promise<void> {
    const { pool, usersFile } = this.#deps;
    if (usersFile === null) return;
    const { rows } = await pool.query<{ subscription: string; password: string }>(
      "select subscription, password from feeds.nats_users order by subscription",
    );
    const draft = `${usersFile}.draft`;
    await writeFile(draft, JSON.stringify(rows), { mode: 0o600 });
    await rename(draft, usersFile);
  }
}
