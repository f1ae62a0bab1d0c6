/**
 * Subscriptions over NATS: each has a user of its own, which may receive its events and answer them, and nothing else.
 * The embedded cluster adds the users to its server from a file; other operators add what the creation returned.
 */
import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import type { Bus } from "@trainyard/bus";
import { type Clock, pause } from "@trainyard/kernel";
import { EffectLoop, type Logger } from "@trainyard/runtime";
import type { Pool } from "pg";
import { feedsLimits } from "../../limits.ts";
import type { DeliveryRoom } from "../dispatch/delivery-room.ts";
import { openNatsSink } from "./nats-sink.ts";

type Deps = {
  readonly pool: Pool;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The file with the users, for the supervisor of an embedded cluster; null without one. */
  readonly usersFile: string | null;
};

export class NatsRoom implements DeliveryRoom {
  readonly open: DeliveryRoom["open"];
  /** Writes the file of users after a change. */
  readonly loop: EffectLoop;
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.loop = new EffectLoop("nats-users", deps, async (signal) => {
      // A server that reads its users again forgets who may answer what: the answer to the change goes first.
      await pause(deps.clock, feedsLimits.natsUsersAfterMs, signal);
      if (!signal.aborted) await this.#writeUsers();
      return null;
    });
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
    this.loop.wake();
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
    if (rowCount !== 0) this.loop.wake();
  }

  async facts(): Promise<ReadonlyMap<string, object>> {
    return new Map();
  }

  /** Writes the file of users as it should be. */
  async #writeUsers(): Promise<void> {
    const { pool, usersFile } = this.#deps;
    if (usersFile === null) return;
    const { rows } = await pool.query<{ subscription: string; password: string }>(
      "select subscription, password from feeds.nats_users order by subscription",
    );
    const text = JSON.stringify(rows);
    if ((await readFile(usersFile, "utf8").catch(() => "[]")) === text) return;
    const draft = `${usersFile}.draft`;
    await writeFile(draft, text, { mode: 0o600 });
    await rename(draft, usersFile);
  }
}
