/**
 * Refuses a migration while services are connected: they would work with tables that they do not know. PostgreSQL shows
 * every user the roles of all connections. The check is made before and after the changes, in their transaction; a
 * service that connects later than the second check waits for the locks of the changes.
 */
import type { DueVersions } from "@trainyard/event-log";
import { Fault } from "@trainyard/kernel";
import type { Client } from "pg";
import { roleOf } from "./roles.ts";

/** Throws a Fault that names the services with connections to the database, if there are any. */
export async function refuseWhileConnected(
  client: Client,
  services: readonly string[],
  { newest, known }: DueVersions,
): Promise<void> {
  // Otherwise the transaction would see the connections of its first look again.
  await client.query("select pg_stat_clear_snapshot()");
  const { rows } = await client.query<{ role: string; connections: number }>(
    `select usename as role, count(*)::integer as connections from pg_stat_activity
     where datname = current_database() and usename = any($1) group by usename order by usename`,
    [services.map(roleOf)],
  );
  if (rows.length === 0) return;
  const names = new Map(services.map((service) => [roleOf(service), service]));
  const connected = rows.map(
    ({ role, connections }) => `${names.get(role) ?? role} ${connections}`,
  );
  throw new Fault(
    "services_connected",
    `the log is at version ${newest} and has to be migrated to ${known}, and services are connected (${connected.join(", ")} connections): stop all services first, with "stopped: true" in the values of the chart or by hand, and migrate again`,
    { retry: "never" },
  );
}
