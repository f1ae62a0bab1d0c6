/** The table of tunnels: which replica has the tunnel of a run. A row may be stale; the replica that it names knows. */
import type { Pool } from "pg";
import { tunnelRoomLimits } from "./limits.ts";

export type TunnelRow = { readonly allocation: string; readonly connection: string };

export class TunnelRows {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Records a new tunnel of the replica, which replaces an older one. */
  async put({ allocation, connection }: TunnelRow, replica: string): Promise<void> {
    await this.#pool.query(
      `insert into gateway.tunnels (allocation, replica, connection) values ($1, $2, $3)
       on conflict (allocation) do update
         set replica = excluded.replica, connection = excluded.connection, seen_at = now()`,
      [allocation, replica, connection],
    );
  }

  /** Returns the address of the replica with the run's tunnel; null for none. */
  async replicaOf(allocation: string): Promise<string | null> {
    const { rows } = await this.#pool.query<{ replica: string }>(
      "select replica from gateway.tunnels where allocation = $1",
      [allocation],
    );
    return rows[0]?.replica ?? null;
  }

  async remove({ allocation, connection }: TunnelRow): Promise<void> {
    await this.#pool.query(
      "delete from gateway.tunnels where allocation = $1 and connection = $2",
      [allocation, connection],
    );
  }

  /**
   * Refreshes the rows of the replica's tunnels, adds the missing ones, and deletes those of replicas that are gone.
   */
  async refresh(tunnels: readonly TunnelRow[], replica: string): Promise<void> {
    await this.#pool.query(
      `insert into gateway.tunnels (allocation, replica, connection)
       select allocation, $2, connection from unnest($1::text[], $3::text[]) as mine(allocation, connection)
       on conflict (allocation) do update set seen_at = now(), replica = excluded.replica
         where tunnels.connection = excluded.connection`,
      [
        tunnels.map(({ allocation }) => allocation),
        replica,
        tunnels.map(({ connection }) => connection),
      ],
    );
    await this.#pool.query(
      "delete from gateway.tunnels where seen_at < now() - make_interval(secs => $1)",
      [tunnelRoomLimits.rowStaleSeconds],
    );
  }
}
