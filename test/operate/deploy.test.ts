/** Follows docs/operate/deploy.md: migrate prepares the database, and one service starts alone. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startNats } from "@trainyard/bus/testing";
import { programFile } from "@trainyard/kernel/program-file";
import { CutPort, freePort, startTestPostgres, type TestPostgres } from "@trainyard/testing";
import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../world/eventually.ts";

const root = join(import.meta.dirname, "../..");
const database = "trainyard";

let stack = new AsyncDisposableStack();
beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

type Environment = Readonly<Record<string, string>>;
type Program = {
  readonly child: ChildProcess;
  /** The program's output so far. */
  said(): string;
  ended(): Promise<number | null>;
};

/** Starts the program of a folder with only these variables and PATH. */
function start(folder: string, environment: Environment): Program {
  const child = spawn(process.execPath, [programFile(join(root, folder, "src/main.ts"))], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      TY_TEST_RUN: process.env["TY_TEST_RUN"],
      ...environment,
    },
  });
  const exit = once(child, "exit");
  stack.defer(async () => {
    child.kill("SIGKILL");
    await exit;
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  }
  return { child, said: () => text, ended: async () => (await exit)[0] as number | null };
}

async function migrate(environment: Environment): Promise<{ code: number | null; said: string }> {
  const program = start("libs/migrate", environment);
  return { code: await program.ended(), said: program.said() };
}

const adminOf = (postgres: TestPostgres): Environment => ({
  TRAINYARD_POSTGRES_ADMIN_URL: postgres.url({ database }),
});

async function query(postgres: TestPostgres, sql: string, name = database): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url({ database: name }) });
  await client.connect();
  await client.query(sql);
  await client.end();
}

const readyz = async (port: number): Promise<boolean> =>
  (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;

const livez = (port: number): Promise<"answered" | "refused"> =>
  fetch(`http://127.0.0.1:${port}/livez`).then(
    () => "answered",
    () => "refused",
  );

test("migrate prepares an empty PostgreSQL, one service starts alone on it, and migrating again changes nothing", async () => {
  const postgres = stack.use(await startTestPostgres());
  const nats = stack.use(await startNats());
  const first = await migrate(adminOf(postgres));
  expect(first).toMatchObject({ code: 0 });
  expect(first.said).toContain("created role ty_experiments\n");

  const port = await freePort();
  const service = start("services/experiments", {
    TRAINYARD_POSTGRES_URL: postgres.url({ user: "ty_experiments", database }),
    TRAINYARD_NATS_URL: nats.url,
    TRAINYARD_HTTP_PORT: String(port),
  });
  await eventually("experiments is ready", () => readyz(port));

  const again = await migrate(adminOf(postgres));
  expect(again.code).toBe(0);
  expect(again.said).toMatch(/^database trainyard is up to date, its log is at version \d+\n$/);
  expect(await readyz(port)).toBe(true);

  // A log that lacks its version: the service that is connected would work with tables that change under it.
  await query(postgres, "update log.migrations set number = 0");
  const due = await migrate(adminOf(postgres));
  expect(due.code).toBe(1);
  expect(due.said).toMatch(
    /^migrate: the log is at version 0 .* services are connected \(experiments \d+ connections\): stop all services first.*\n$/,
  );
  await query(postgres, "update log.migrations set number = 1");
  expect(await readyz(port)).toBe(true);
  service.child.kill("SIGTERM");
  expect(await service.ended()).toBe(0);
});

test("after a rollback, migrate and each service name the version that must run and the backup", async () => {
  const postgres = stack.use(await startTestPostgres());
  const nats = stack.use(await startNats());
  await migrate(adminOf(postgres));
  await query(
    postgres,
    `create table feeds.migrations (number integer, name text);
     alter table feeds.migrations owner to ty_feeds;
     insert into feeds.migrations values (9000, 'newer')`,
  );
  const back =
    "deploy that version again, or restore the backup made before it (docs/operate/backup.md)\n";
  const service = start("services/feeds", {
    TRAINYARD_POSTGRES_URL: postgres.url({ user: "ty_feeds", database }),
    TRAINYARD_NATS_URL: nats.url,
  });
  expect(await service.ended()).toBe(1);
  expect(service.said()).toMatch(
    /cannot start: the tables of feeds were migrated by a newer version of Trainyard \(it is at 9000, .*\n$/,
  );
  expect(service.said()).toContain(back);
  await query(postgres, "insert into log.migrations (number, name) values (9000, 'newer')");
  const refused = await migrate(adminOf(postgres));
  expect(refused.code).toBe(1);
  expect(refused.said).toMatch(/^migrate: the log was migrated by a newer version of Trainyard/);
  expect(refused.said).toContain(back);
});

test("migrate waits for a PostgreSQL that is away, and fails with the reason when the wait is over", async () => {
  const postgres = stack.use(await startTestPostgres());
  const link = stack.use(await CutPort.open(postgres.port));
  await link.cut();
  const url = `postgres://${postgres.user}@127.0.0.1:${link.port}/${database}`;
  const program = start("libs/migrate", { TRAINYARD_POSTGRES_ADMIN_URL: url });
  const waits = `migrate: waits for PostgreSQL, up to 60 s (connect ECONNREFUSED 127.0.0.1:${link.port})\n`;
  await eventually("migrate waits", async () => program.said() === waits);
  await link.mend();
  expect(await program.ended()).toBe(0);
  expect(program.said()).toContain("is up to date");
});

test("passwords of any character are set apart from the URLs, for migrate and for a service with two databases", async () => {
  const postgres = stack.use(await startTestPostgres());
  const nats = stack.use(await startNats());
  const passwords = { admin: "p@ss/wo:rd%20#?", service: "'%41\"\\&=$x+ y" };
  const password = pg.escapeLiteral(passwords.admin);
  await query(postgres, `create role "ad:min" superuser login password ${password}`, "postgres");
  const rules = join(postgres.data, "pg_hba.conf");
  const trusting = readFileSync(rules, "utf8");
  writeFileSync(rules, trusting.replaceAll(/trust$/gm, "scram-sha-256"));
  await query(postgres, "select pg_reload_conf()", "postgres");

  const server = `${postgres.host}:${postgres.port}/${database}`;
  const admin = { TRAINYARD_POSTGRES_ADMIN_URL: `postgres://${server}` };
  const refused = await migrate({ ...admin, TRAINYARD_POSTGRES_ADMIN_USER: "ad:min" });
  expect(refused).toMatchObject({
    code: 1,
    said: expect.stringMatching(/^migrate: PostgreSQL asks for a password, and none is set.*\n$/),
  });
  const migrated = await migrate({
    ...admin,
    TRAINYARD_POSTGRES_ADMIN_USER: "ad:min",
    TRAINYARD_POSTGRES_ADMIN_PASSWORD: passwords.admin,
    TRAINYARD_POSTGRES_PASSWORD_METRICS: passwords.service,
  });
  expect(migrated).toMatchObject({ code: 0 });

  const port = await freePort();
  start("services/metrics", {
    TRAINYARD_POSTGRES_URL: `postgres://ty_metrics@${server}`,
    TRAINYARD_POSTGRES_PASSWORD: passwords.service,
    TRAINYARD_METRICS_POSTGRES_URL: `postgres://ty_metrics@${server}`,
    TRAINYARD_METRICS_POSTGRES_PASSWORD: passwords.service,
    TRAINYARD_RUN_TOKEN_KEY: "0".repeat(64),
    TRAINYARD_NATS_URL: nats.url,
    TRAINYARD_HTTP_PORT: String(port),
  });
  await eventually("metrics is ready", () => readyz(port));
});

test("a service that is started before its database is migrated exits with the reason", async () => {
  const postgres = stack.use(await startTestPostgres());
  const nats = stack.use(await startNats());
  const service = start("services/experiments", {
    TRAINYARD_POSTGRES_URL: postgres.url({ user: "ty_experiments" }),
    TRAINYARD_NATS_URL: nats.url,
  });
  expect(await service.ended()).toBe(1);
  expect(service.said()).toBe('cannot start: role "ty_experiments" does not exist\n');
});

test("a service without settings exits with 2 and one line that names the missing ones", async () => {
  const service = start("services/experiments", { TRAINYARD_NATS_URL: "nats://127.0.0.1:4222" });
  expect(await service.ended()).toBe(2);
  expect(service.said()).toBe(
    "cannot start: environment variables are wrong: TRAINYARD_POSTGRES_URL: is not set\n",
  );
});

test("migrate prints one line about the problem, and exits with 2 for its settings and 1 for others", async () => {
  expect(await migrate({})).toEqual({
    code: 2,
    said: expect.stringMatching(/^migrate: .*TRAINYARD_POSTGRES_ADMIN_URL: must be postgres:.*\n$/),
  });
  const port = await freePort();
  const url = `postgres://admin:hidden@127.0.0.1:${port}/trainyard`;
  const refused = await migrate({
    TRAINYARD_POSTGRES_ADMIN_URL: url,
    TRAINYARD_POSTGRES_WAIT_SECONDS: "0",
  });
  expect(refused.code).toBe(1);
  const away = `PostgreSQL at 127.0.0.1:${port} does not answer (connect ECONNREFUSED 127.0.0.1:${port})`;
  expect(refused.said).toBe(`migrate: ${away}\n`);
  expect(refused.said).not.toContain("hidden");
  const unknown = await migrate({
    TRAINYARD_POSTGRES_ADMIN_URL: "postgres://nowhere.invalid:5432/trainyard",
  });
  expect(unknown).toMatchObject({
    code: 1,
    said: expect.stringMatching(
      /^migrate: PostgreSQL at nowhere\.invalid:5432 .*getaddrinfo .*\n$/,
    ),
  });
});

test.each(["SIGTERM", "SIGKILL"] as const)(
  "a service that npm runs ends after a %s to npm",
  async (signal) => {
    const postgres = stack.use(await startTestPostgres());
    const nats = stack.use(await startNats());
    await migrate(adminOf(postgres));
    const port = await freePort();
    const npm = spawn("npm", ["run", "-s", "service", "--", "experiments"], {
      stdio: ["ignore", "ignore", "inherit"],
      cwd: join(import.meta.dirname, "../.."),
      env: {
        ...process.env,
        TRAINYARD_POSTGRES_URL: postgres.url({ user: "ty_experiments", database }),
        TRAINYARD_NATS_URL: nats.url,
        TRAINYARD_HTTP_PORT: String(port),
        TRAINYARD_LOG_LEVEL: "silent",
      },
    });
    stack.defer(() => void npm.kill("SIGKILL"));
    await eventually("experiments is ready", () => readyz(port));
    const exit = once(npm, "exit");
    npm.kill(signal);
    await expect.poll(() => livez(port), { timeout: 60_000 }).toBe("refused");
    const [code] = (await exit) as [number | null];
    // Drained; a killed npm has no exit code.
    expect(code).toBe(signal === "SIGTERM" ? 0 : null);
  },
);
