import { execFile } from "node:child_process";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { readText, writeAtomically } from "../home/atomic-file.ts";
import { ClusterError, errorText } from "../cluster-error.ts";
import type { Command } from "../processes/launch.ts";
import type { PostgresPlace } from "./postgres-place.ts";

/** The role that creates databases and roles; only the cluster itself logs in with it. */
export const adminRole = "ty_admin";
export const databaseName = "trainyard";

const serverEnvironment = { LC_ALL: "C", TZ: "UTC", PATH: "/usr/bin:/bin" };

export function postgresUrl(
  port: number,
  role: string,
  password: string,
  database: string = databaseName,
): string {
  return `postgres://${role}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
}

/** Creates the database files unless they exist; an interrupted first start is repeated. */
export async function initialisePostgres(
  place: PostgresPlace,
  adminPassword: string,
): Promise<void> {
  const data = dataFolder(place);
  const found = readText(join(data, "PG_VERSION"))?.trim();
  if (found !== undefined) {
    if (Number(found) === place.binaries.major) return;
    throw new ClusterError(
      "other_postgres",
      `The database in ${data} was written by PostgreSQL ${found} and this checkout has ${place.binaries.major}: use the checkout that wrote it, or delete its data with "yard cluster down --purge".`,
    );
  }
  const draft = join(place.folder, "data.new");
  rmSync(draft, { recursive: true, force: true });
  const passwordFile = join(place.folder, "initdb-password");
  rmSync(passwordFile, { force: true });
  writeAtomically(passwordFile, `${adminPassword}\n`, { owner: place.user });
  try {
    await runInitdb(place, draft, passwordFile);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(draft, data);
}

async function runInitdb(
  place: PostgresPlace,
  folder: string,
  passwordFile: string,
): Promise<void> {
  const parameters = [
    `--pgdata=${folder}`,
    `--username=${adminRole}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    // The C locale does not depend on the machine's locales or on its libc's sort order.
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
  ];
  try {
    await promisify(execFile)(join(place.binaries.folder, "bin", "initdb"), parameters, {
      cwd: place.folder,
      env: serverEnvironment,
      ...(place.user === null ? {} : { uid: place.user.uid, gid: place.user.gid }),
    });
  } catch (error) {
    const reason = (error as { stderr?: string }).stderr?.trim().split("\n").at(-1);
    throw new ClusterError(
      "initdb_failed",
      `The database could not be created in ${place.folder}: ${reason || errorText(error)}`,
      { cause: error },
    );
  }
}

/** Settings for a durable server on a small machine that runs other processes too; it listens on 127.0.0.1 only. */
function configuration(port: number): string {
  const settings: Readonly<Record<string, string | number>> = {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: "",
    password_encryption: "scram-sha-256",
    // Enough for the connection pools of ten services, and for people's tools.
    max_connections: 200,
    shared_buffers: "128MB",
    work_mem: "8MB",
    maintenance_work_mem: "64MB",
    max_wal_size: "1GB",
    fsync: "on",
    synchronous_commit: "on",
    full_page_writes: "on",
    dynamic_shared_memory_type: "posix",
    max_worker_processes: 4,
    max_parallel_workers_per_gather: 0,
    // Compiling a short statement takes longer than running it.
    jit: "off",
    timezone: "UTC",
    log_timezone: "UTC",
    log_line_prefix: "%m [%p] %q%u ",
    log_checkpoints: "off",
    // Statements can hold people's data, so the log leaves them out; the client receives the error anyway.
    log_min_error_statement: "panic",
    // An open transaction holds an old snapshot, which slows down all others.
    idle_in_transaction_session_timeout: "10s",
    // The server detects within half a minute that a client's host is gone.
    tcp_keepalives_idle: 10,
    tcp_keepalives_interval: 5,
    tcp_keepalives_count: 4,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name} = '${value}'\n`)
    .join("");
}

/** Writes the server's configuration and returns the command that runs it in the foreground. */
export function postgresCommand(place: PostgresPlace, port: number): Command {
  const data = dataFolder(place);
  const options = { owner: place.user };
  writeAtomically(join(data, "postgresql.conf"), configuration(port), options);
  writeAtomically(join(data, "pg_hba.conf"), "host all all 127.0.0.1/32 scram-sha-256\n", options);
  // The server refuses to start while the pid in an old postmaster.pid belongs to any process of its user, even an
  // unrelated one. No server of this home can run, since it would hold the home's lock.
  rmSync(join(data, "postmaster.pid"), { force: true });
  return {
    program: join(place.binaries.folder, "bin", "postgres"),
    parameters: ["-D", data],
    environment: serverEnvironment,
    folder: place.folder,
    user: place.user,
  };
}

/** Null when the server answers queries, else the problem. */
export async function postgresProblem(url: string): Promise<string | null> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on("error", () => {}); // Reported by the query that meets it.
  try {
    await client.connect();
    await client.query("select 1");
    return null;
  } catch (error) {
    return errorText(error);
  } finally {
    await client.end().catch(() => {}); // A connection that never came up has nothing to end.
  }
}

function dataFolder(place: PostgresPlace): string {
  return join(place.folder, "data");
}
