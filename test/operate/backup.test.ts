/** Follows docs/operate/backup.md with a real PostgreSQL, a gateway in its own process, and the command line. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, chmod, chown, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startNats } from "@trainyard/bus/testing";
import { Client } from "@trainyard/client";
import { newApiToken } from "@trainyard/kernel/api-token";
import { categoryOwners } from "@trainyard/kernel/services";
import { migrateLog } from "@trainyard/event-log";
import { programFile } from "@trainyard/kernel/program-file";
import { databaseEpoch } from "@trainyard/runtime";
import { freePort, startTestPostgres, type TestPostgres } from "@trainyard/testing";
import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../world/eventually.ts";

const run = promisify(execFile);
const gatewayMain = programFile(join(import.meta.dirname, "../../services/gateway/src/main.ts"));
const migrateMain = programFile(join(import.meta.dirname, "../../libs/migrate/src/main.ts"));
const yardMain = programFile(join(import.meta.dirname, "../../services/cli/src/main.ts"));
const database = "trainyard";
const { text: token } = newApiToken();

let stack = new AsyncDisposableStack();
let folder = "";
let natsUrl = "";

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  folder = await mkdtemp(join(tmpdir(), "trainyard-backup-"));
  // PostgreSQL, which does not run as root, must reach its archive in this folder.
  await chmod(folder, 0o755);
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  natsUrl = stack.use(await startNats()).url;
  await writeFile(join(folder, "token"), token, { mode: 0o600 });
});
afterEach(() => stack.disposeAsync());

async function withClient<Value>(url: string, use: (client: pg.Client) => Promise<Value>) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** The epoch of the log that a database reports. */
const epochOf = (postgres: TestPostgres): Promise<string> =>
  withClient(postgres.url({ database }), async (client) => {
    const { rows } = await client.query<{ epoch: string }>(`select ${databaseEpoch} as epoch`);
    return rows[0]?.epoch ?? "";
  });

/** Roles, database and schemas, as a cluster prepares them. */
async function prepare(postgres: TestPostgres): Promise<void> {
  await withClient(postgres.url(), async (client) => {
    await client.query("create role ty_migrator");
    await client.query("create role ty_gateway login");
    await client.query(`create database ${database}`);
  });
  await withClient(postgres.url({ database }), async (client) => {
    await client.query("create schema gateway authorization ty_gateway");
    const owned = Object.entries(categoryOwners).filter(([, owner]) => owner === "gateway");
    const categories = Object.fromEntries(owned.map(([category]) => [category, "ty_gateway"]));
    await migrateLog(client, { roles: { categories, consumers: { gateway: "ty_gateway" } } });
  });
}

type Gateway = { readonly url: string; stop(): Promise<void> };

async function startGateway(postgres: TestPostgres): Promise<Gateway> {
  const port = await freePort();
  const child: ChildProcess = spawn(process.execPath, [gatewayMain], {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      TRAINYARD_POSTGRES_URL: postgres.url({ user: "ty_gateway", database }),
      TRAINYARD_NATS_URL: natsUrl,
      TRAINYARD_HTTP_PORT: String(port),
      TRAINYARD_LOG_LEVEL: "silent",
      TRAINYARD_BLOB_DIR: join(folder, "blobs"),
      TRAINYARD_CHECKPOINT_DIR: join(folder, "checkpoints"),
      TRAINYARD_RUN_TOKEN_KEY: "07".repeat(32),
      TRAINYARD_FIRST_TOKEN_FILE: join(folder, "token"),
    },
  });
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  stack.defer(stop);
  await eventually("the gateway is ready", async () => (await fetch(`${url}/readyz`)).ok);
  return { url, stop };
}

type Said = { readonly code: number; readonly out: string; readonly err: string };

function yard({ url }: Gateway, ...words: readonly string[]): Promise<Said> {
  return program([yardMain, ...words], { TRAINYARD_URL: url, TRAINYARD_TOKEN: token });
}

/** Verifies a log before a service runs on it. */
const verifyFirst = (postgres: TestPostgres, file: string): Promise<Said> =>
  program([migrateMain, "--verify", file], {
    TRAINYARD_POSTGRES_ADMIN_URL: postgres.url({ database }),
  });

async function program(
  words: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<Said> {
  try {
    const env = { ...process.env, ...variables };
    const { stdout, stderr } = await run(process.execPath, [...words], { env });
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
}

const clientOf = ({ url }: Gateway): Client => new Client({ url, token });

/** Makes the platform record an event: a token of this label. */
async function record(gateway: Gateway, label: string): Promise<void> {
  await clientOf(gateway).call("createToken", { label });
}

const labels = async (gateway: Gateway): Promise<string> => {
  const { items } = await clientOf(gateway).call("listTokens", {});
  return items
    .map(({ label }) => label)
    .sort()
    .join();
};

async function anchor(gateway: Gateway, name: string): Promise<string> {
  const file = join(folder, name);
  expect(await yard(gateway, "log", "anchor", file)).toMatchObject({ code: 0 });
  return file;
}

const verify = (gateway: Gateway, file: string): Promise<Said> =>
  yard(gateway, "log", "verify", "--skip-views", "--anchor", file);

/** Checks a restored log: which anchors match, what is missing, and that it accepts commits. */
async function expectLost(gateway: Gateway, kept: string, lost: string, events: number) {
  expect(await verify(gateway, kept)).toMatchObject({ code: 0 });
  const missing = await verify(gateway, lost);
  expect(missing.code).toBe(1);
  expect(missing.out).toMatch(/^chain: holds up to position \d+$/m);
  expect(missing.out).toMatch(
    new RegExp(
      `^anchor: does not hold .*: ${events} events up to the anchor at \\d+ are missing$`,
      "m",
    ),
  );
  await record(gateway, "after");
  expect(await labels(gateway)).toBe("after,archived,first");
  expect(await verify(gateway, kept)).toMatchObject({ code: 0 });
  // The log has grown again, with other events than the lost ones.
  await record(gateway, "after");
  expect(await verify(gateway, lost)).toMatchObject({ code: 1 });
}

test("a log restored from a stopped copy ends earlier, an anchor shows the missing events, and services continue", async () => {
  const postgres = stack.use(await startTestPostgres());
  await prepare(postgres);
  let gateway = await startGateway(postgres);
  await record(gateway, "archived");
  const kept = await anchor(gateway, "kept.json");
  // The cluster goes down, is copied, and comes up.
  await gateway.stop();
  await postgres.stop();
  const copy = join(folder, "copy");
  await run("cp", ["-a", postgres.data, copy]);
  const again = stack.use(await startTestPostgres({ copyOf: postgres.data }));
  gateway = await startGateway(again);
  await record(gateway, "lost");
  await record(gateway, "lost");
  const lost = await anchor(gateway, "lost.json");
  expect(await verify(gateway, lost)).toMatchObject({ code: 0 });
  await gateway.stop();
  await again[Symbol.asyncDispose]();
  const restored = stack.use(await startTestPostgres({ copyOf: copy }));
  expect(await verifyFirst(restored, kept)).toMatchObject({ code: 0 });
  const told = await verifyFirst(restored, lost);
  expect(told.code).toBe(3);
  expect(told.out).toMatch(
    /^chain: holds up to position \d+\nanchor: does not hold up to position \d+: the log ends at \d+: 2 events up to the anchor at \d+ are missing\n$/,
  );
  expect(await verifyFirst(restored, copy)).toMatchObject({ code: 2, out: "" });
  await expectLost(await startGateway(restored), kept, lost, 2);
});

test("a log restored from a base backup and the archive has all archived events, and an anchor shows the missing ones", async () => {
  const archive = join(folder, "archive");
  await mkdir(archive);
  const settings = {
    wal_level: "replica",
    archive_mode: "on",
    archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f`,
  };
  const postgres = stack.use(await startTestPostgres({ settings }));
  const { uid, gid } = await stat(postgres.data);
  await chown(archive, uid, gid);
  await prepare(postgres);
  let gateway = await startGateway(postgres);

  // The files are copied while the server writes, as pg_basebackup does, which is not among the packaged programs.
  const base = join(folder, "base");
  await withClient(postgres.url(), async (client) => {
    await client.query("select pg_backup_start('test', fast => true)");
    await run("cp", ["-a", postgres.data, base]);
    const { rows } = await client.query<{ labelfile: string }>(
      "select labelfile from pg_backup_stop(wait_for_archive => true)",
    );
    await rm(join(base, "postmaster.pid"), { force: true });
    await run("find", [join(base, "pg_wal"), "-type", "f", "-delete"]);
    await writeFile(join(base, "backup_label"), rows[0]?.labelfile ?? "");
    await chown(join(base, "backup_label"), uid, gid);
  });
  await record(gateway, "archived");
  const kept = await anchor(gateway, "kept.json");
  await withClient(postgres.url(), async (client) => {
    const { rows } = await client.query<{ file: string }>(
      "select pg_walfile_name(pg_switch_wal()) as file",
    );
    const file = rows[0]?.file ?? "none";
    await eventually("the segment is archived", async () =>
      (await stat(join(archive, file))).isFile(),
    );
  });
  await record(gateway, "lost");
  const epoch = await epochOf(postgres);
  expect(await epochOf(postgres)).toBe(epoch);
  const lost = await anchor(gateway, "lost.json");
  // The disk is lost, with all events that were not archived.
  await gateway.stop();
  await postgres[Symbol.asyncDispose]();

  await appendFile(join(base, "postgresql.auto.conf"), `restore_command = 'cp ${archive}/%f %p'\n`);
  await writeFile(join(base, "recovery.signal"), "");
  const restored = stack.use(await startTestPostgres({ copyOf: base }));
  gateway = await startGateway(restored);
  await expectLost(gateway, kept, lost, 1);
  // Positions of points and lines that clients keep belong to the earlier epoch.
  expect(await epochOf(restored)).not.toBe(epoch);
});
