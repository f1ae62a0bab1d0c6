import { Client, escapeIdentifier, escapeLiteral } from "pg";
import { adminRole, databaseName, postgresUrl } from "./postgres.ts";
import { scramMatches, scramVerifier } from "./scram.ts";

export type DatabaseRole = {
  readonly name: string;
  readonly password: string;
  /** The schema that the role owns. */
  readonly schema: string | null;
};

/**
 * Creates the database and the roles as far as they are missing, brings passwords in line with the secrets, and runs
 * the given migration as administrator on the database. Safe to repeat at every start.
 */
export async function ensureDatabase(
  port: number,
  adminPassword: string,
  roles: readonly DatabaseRole[],
  migrate: (client: Client) => Promise<void>,
): Promise<void> {
  await withClient(postgresUrl(port, adminRole, adminPassword, "postgres"), async (client) => {
    await ensureRoles(client, roles);
    const { rowCount } = await client.query("select 1 from pg_database where datname = $1", [
      databaseName,
    ]);
    if (rowCount === 0) await client.query(`create database ${databaseName}`);
  });
  await withClient(postgresUrl(port, adminRole, adminPassword), async (client) => {
    await restrictDatabase(client, roles);
    for (const role of roles) await ensureSchema(client, role);
    await migrate(client);
  });
}

async function ensureRoles(client: Client, roles: readonly DatabaseRole[]): Promise<void> {
  const { rows } = await client.query<{ name: string; verifier: string | null }>(
    "select rolname as name, rolpassword as verifier from pg_authid where rolname = any($1)",
    [roles.map((role) => role.name)],
  );
  const stored = new Map(rows.map((row) => [row.name, row.verifier ?? ""]));
  for (const role of roles) {
    const verifier = stored.get(role.name);
    if (verifier !== undefined && scramMatches(verifier, role.password)) continue;
    const verb = verifier === undefined ? "create" : "alter";
    const stated = escapeLiteral(scramVerifier(role.password));
    await client.query(`${verb} role ${escapeIdentifier(role.name)} login password ${stated}`);
  }
}

/** Only the cluster's roles may connect, and nobody may create in `public` or see another's temporary tables. */
async function restrictDatabase(client: Client, roles: readonly DatabaseRole[]): Promise<void> {
  const names = roles.map((role) => escapeIdentifier(role.name)).join(", ");
  await client.query(`revoke all on database ${databaseName} from public`);
  await client.query("revoke all on schema public from public");
  // A service's own migrations state their schema with "create schema if not exists", which asks for this right first.
  // A read model that is checked is folded afresh into a temporary table.
  const rights = "connect, create, temporary";
  await client.query(`grant ${rights} on database ${databaseName} to ${names}`);
}

async function ensureSchema(client: Client, role: DatabaseRole): Promise<void> {
  if (role.schema === null) return;
  const { rowCount } = await client.query("select 1 from pg_namespace where nspname = $1", [
    role.schema,
  ]);
  if (rowCount !== 0) return;
  await client.query(
    `create schema ${escapeIdentifier(role.schema)} authorization ${escapeIdentifier(role.name)}`,
  );
}

async function withClient(url: string, use: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url });
  // A connection that breaks between two queries must not end this process; the next query reports it.
  client.on("error", () => {});
  await client.connect();
  try {
    await use(client);
  } finally {
    await client.end();
  }
}
