import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DatabaseRole, ensureDatabase } from "@trainyard/migrate";
import { Client } from "pg";
import { expect, test } from "vitest";
import { writeAtomically } from "../home/atomic-file.ts";
import { homeAt, prepareHome, removeHome } from "../home/home.ts";
import { databaseName, initialisePostgres, postgresProblem, postgresUrl } from "./postgres.ts";
import { packagedPostgres } from "./postgres-binaries.ts";
import { preparePlace } from "./postgres-place.ts";
import { allProcesses, isAlive, signal } from "../processes/process-identity.ts";
import { ensureSecrets } from "../home/secrets.ts";
import { startTestServer, temporaryHome } from "../testing/homes.ts";
import { waitUntil } from "../processes/wait.ts";

const slow = 120_000;

test(
  "a database is created once, survives kill -9, and keeps committed rows",
  async () => {
    using home = temporaryHome();
    await using server = await startTestServer(home, ["ty_alpha"]);
    const roles: DatabaseRole[] = [
      {
        name: "ty_alpha",
        password: server.secrets.postgresPasswords["ty_alpha"] ?? "",
        schema: "alpha",
      },
    ];
    const admin = postgresUrl(server.port, "ty_admin", server.secrets.postgresAdminPassword);
    await ensureDatabase(admin, roles, async () => {});

    const url = postgresUrl(server.port, "ty_alpha", roles[0]?.password ?? "");
    await query(url, "create table alpha.kept (n int)");
    await query(url, "insert into alpha.kept values (1), (2)");
    const killed = server.process;
    signal(killed, "SIGKILL");
    expect(await waitUntil(() => !isAlive(killed), 90_000)).toBe(true);
    await server.start();
    expect(await query(url, "select n from alpha.kept order by n")).toEqual([{ n: 1 }, { n: 2 }]);
    await expect(query(url, "create table public.stray (n int)")).rejects.toThrow(
      /permission denied/,
    );
  },
  slow,
);

test(
  "the server starts although a stale postmaster.pid names another living process",
  async () => {
    using home = temporaryHome();
    const server = await startTestServer(home, []);
    const pidFile = join(server.place.folder, "data", "postmaster.pid");
    const stale = readFileSync(pidFile, "utf8");
    await server[Symbol.asyncDispose]();
    writeAtomically(pidFile, stale.replace(/^\d+/, String(process.pid)), {
      owner: server.place.user,
    });
    await using _ = server;
    await server.start();
    expect(await postgresProblem(server.adminUrl)).toBeNull();
  },
  slow,
);

test(
  "an interrupted first start is repeated",
  async () => {
    using home = temporaryHome();
    const secrets = ensureSecrets(home, { postgresRoles: [], natsUsers: [] });
    const place = preparePlace(home, secrets.clusterId, packagedPostgres());
    mkdirSync(join(place.folder, "data.new", "base"), { recursive: true });
    await initialisePostgres(place, secrets.postgresAdminPassword);
    expect(existsSync(join(place.folder, "data", "PG_VERSION"))).toBe(true);
    expect(existsSync(join(place.folder, "data.new"))).toBe(false);
    expect(existsSync(join(place.folder, "initdb-password"))).toBe(false);
  },
  slow,
);

test(
  "the server's start arguments hold no secret, and it listens on 127.0.0.1 only",
  async () => {
    using home = temporaryHome();
    await using server = await startTestServer(home, []);
    const shown = allProcesses().find((one) => one.pid === server.process.pid);
    expect(shown?.argv.join(" ")).toContain(join(server.place.folder, "data"));
    const seen = [...(shown?.argv ?? []), ...(shown?.environment ?? [])].join(" ");
    expect(seen).not.toContain(server.secrets.postgresAdminPassword);
    const [listen] = await query(server.adminUrl, "show listen_addresses");
    expect(listen).toEqual({ listen_addresses: "127.0.0.1" });
    expect(statSync(home.secretsFile).mode & 0o777).toBe(0o600);
  },
  slow,
);

test(
  "with a home that only root may enter, data and programs are in a folder that the server's user can reach",
  async () => {
    const parent = mkdtempSync(join(tmpdir(), "trainyard-root-only-"));
    const home = homeAt(join(parent, "home"));
    let shared: string | null = null;
    try {
      prepareHome(home);
      const secrets = ensureSecrets(home, { postgresRoles: [], natsUsers: [] });
      shared = join("/var/lib/trainyard", secrets.clusterId);
      await using server = await startTestServer(home, []);
      expect(await query(server.adminUrl, "select 1 as one")).toEqual([{ one: 1 }]);
      // Without root, the server runs as the same user, who reaches the folders.
      const moved = process.getuid?.() === 0;
      expect(server.place.folder).toBe(moved ? join(shared, "postgres") : home.postgres);
      expect(server.place.note ?? "").toContain(moved ? shared : "");
      expect(statSync(server.place.folder).mode & 0o777).toBe(0o700);
      // The saved decision stays, even when the home's folder can be entered later.
      chmodSync(parent, 0o755);
      const again = preparePlace(home, secrets.clusterId, packagedPostgres());
      expect(again.folder).toBe(server.place.folder);
    } finally {
      if (shared !== null) rmSync(shared, { recursive: true, force: true });
      removeHome(home);
      rmSync(parent, { recursive: true, force: true });
    }
  },
  slow,
);

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

test("the database has the name that every service is configured with", () => {
  expect(postgresUrl(5432, "ty_alpha", "a/b")).toBe(
    `postgres://ty_alpha:a%2Fb@127.0.0.1:5432/${databaseName}`,
  );
});
